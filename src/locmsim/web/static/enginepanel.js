// @ts-check
// The panel "Engine": searches the position that is shown for as long as the panel is open, and
// tries other turns by clicks on the board.

import { button, element, number, pause, percent, renew, textOf } from "./dom.js";
import { Teller, pathTo } from "./local.js";

/** @typedef {import("./viewer.js").Viewer} Viewer */
/** @typedef {{actions: string[], words?: string[], boards?: any[], chance: number,
 *   searches?: number}} Line */

/** Seconds of one search after the other: the first answer comes soon, then better ones. */
const ROUNDS = [0.4, 1, 2, 4, 8];
/** Milliseconds for which a position is shown before anybody is asked about it, and then until it is
 * searched: those on the way to another one cost nothing. */
const ASK_MS = 60;
const SEARCH_MS = 240;

export class Engine {
  /** @param {Viewer} viewer @param {import("./local.js").Asked} machine
   * @param {boolean} [own] whether it advises a person who plays, in their own turns only: it knows
   * what the player of a turn holds */
  constructor(viewer, machine, own = false) {
    this.viewer = viewer;
    this.machine = machine;
    this.own = own;
    this.teller = new Teller(viewer.data);
    /** Another one for each search. */
    this.seed = 0;
    /** Numbers the positions that were looked at: only the last one's answers are shown. */
    this.asked = 0;
    /** Whether positions are searched as they are shown. */
    this.eager = true;
    /** The name of the search that runs, "" if none does. */
    this.running = "";
    /** Whether the panel was closed before the search had ended. */
    this.interrupted = false;
    /** How many of the rounds are done in this position, and what they came to. */
    this.rounds = 0;
    this.seconds = 0;
    this.nodes = 0;
    /** What is legal in the position that is shown. @type {string[]|undefined} */
    this.legal = undefined;
    this.shown = "";
    this.toggle = element("button#search.main", { onclick: () => this.switch() });
    this.undo = button("#undo", "Undo", () => this.takeBack());
    this.progress = element("p.small.dim", { "aria-live": "polite" });
    this.lines = element("ul#lines.plain");
    this.estimate = element("div");
    this.note = element("p.small.dim");
    this.held = element("div#held");
    this.fault = element("div");
    const panel = element(
      "div",
      this.fault,
      element("div.bar", this.toggle, this.undo),
      this.progress,
      this.estimate,
      this.lines,
      this.note,
      this.held,
    );
    this.tellProgress();
    viewer.panels.add("engine", "Engine", panel, "a");
    // What was legal in the position before is not offered: a click on it would be lost.
    viewer.offer = () =>
      this.open && this.legal && this.shown === this.here() ? { actions: this.legal } : {};
    viewer.act = (action) => this.act(action);
    viewer.keys.s = () => this.switch();
    viewer.listeners.push(() => this.look());
    addEventListener("pagehide", () => this.stop());
  }

  get open() {
    return this.viewer.panels.shown === "engine";
  }

  /** Show how far the search is, and what the button does. */
  tellProgress() {
    const searched = `${number(this.nodes)} positions in ${this.seconds.toFixed(1)} s`;
    const words = [this.running && "Searching\u2026", this.nodes && searched];
    this.progress.textContent = words.filter(Boolean).join(" ");
    this.toggle.textContent = this.running ? "Stop" : "Search";
    this.toggle.setAttribute("aria-pressed", String(Boolean(this.running)));
  }

  /** Whether what is shown is beyond the end of the turn, in a sampled world. */
  get beyond() {
    const { line, steps, at } = this.viewer;
    return line?.steps.slice(0, line.at + 1).some((step) => step.turn !== steps[at].turn) ?? false;
  }

  /** The position that is asked about: the path to the start of its turn, and what is done since. */
  place() {
    const { viewer } = this;
    const start = viewer.turnStart(viewer.at);
    const steps = viewer.steps.slice(start + 1, viewer.at + 1);
    if (viewer.line && !this.beyond) steps.push(...viewer.line.steps.slice(0, viewer.line.at + 1));
    const path = pathTo(viewer.steps.slice(0, start + 1));
    return { path, done: steps.map((step) => step.action ?? "") };
  }

  /** The position that is shown, as a key. */
  here() {
    return JSON.stringify([this.place(), this.beyond]);
  }

  /** Turn to the position that is shown now; stop once the panel is closed. */
  look() {
    const { viewer } = this;
    this.undo.toggleAttribute("disabled", !viewer.line);
    if (!this.open || !viewer.step) {
      this.interrupted ||= this.running !== "";
      return this.stop();
    }
    const here = this.here();
    if (here === this.shown) {
      if (this.interrupted) this.search();
      return;
    }
    this.shown = here;
    this.interrupted = false;
    this.asked += 1;
    this.stop();
    this.forget();
    this.legal = undefined;
    this.fault.replaceChildren();
    this.lines.replaceChildren();
    this.held.replaceChildren();
    this.estimate.replaceChildren();
    this.note.textContent = "";
    this.point([]);
    this.tellProgress();
    if (this.beyond) this.progress.textContent = "This is in a sampled world: Moves leads back.";
    else this.know(this.asked);
  }

  /** Begin with the first round again. */
  forget() {
    this.rounds = this.seconds = this.nodes = 0;
  }

  /** Show what is legal here and the chance of winning if the turn ends; then search.
   * @param {number} asked */
  async know(asked) {
    const { viewer } = this;
    await pause(ASK_MS);
    if (asked !== this.asked) return;
    try {
      const found = await this.after([]);
      if (asked !== this.asked) return;
      this.legal = found.actions;
      viewer.redraw();
      const { names } = viewer.data;
      const parts = [];
      const winner = viewer.step.board.winner;
      if (winner !== null)
        parts.push(element("p#chance", "Won by ", element("bdi", names[winner]), "."));
      else {
        const { path, done } = this.place();
        const { worlds, seed } = this.machine.packed;
        const question = { path, line: done.join(";"), worlds, seed };
        const { chance, player } = await this.machine.ask("chance", question);
        if (asked !== this.asked) return;
        const words = `: ${percent(chance)} chance of winning if the turn ends here, or with`;
        parts.push(element("p#chance", element("bdi", names[player]), words));
      }
      this.estimate.replaceChildren(...parts);
    } catch (error) {
      return this.fail(error);
    }
    await pause(SEARCH_MS);
    if (asked !== this.asked || !this.eager || viewer.step.board.winner !== null) return;
    if (this.open) this.search();
    else this.interrupted = true;
  }

  /** Ask for the steps beside the match up to actions from the position that is shown, and what is
   * legal then. @param {string[]} more */
  async after(more) {
    const { viewer } = this;
    const { board } = viewer.steps[viewer.at];
    if (this.own && board.player >= 0 && board.player !== viewer.data.seat)
      throw new Error("The engine advises you in your own turns.");
    const line = viewer.line?.steps.slice(0, viewer.line.at + 1) ?? [];
    const actions = [...line.map((step) => step.action ?? ""), ...more];
    this.machine.end(); // a search that runs is of another position
    const path = pathTo(viewer.steps.slice(0, viewer.at + 1));
    const found = await this.machine.ask("walk", { path, actions });
    Object.assign(viewer.data.cards, found.cards);
    return { steps: this.teller.steps(actions, board, found), actions: found.actions };
  }

  /** Carry out an action beside the match. @param {string} action */
  async act(action) {
    if (this.legal?.includes(action)) await this.go([action]);
  }

  /** Show actions from what is shown. @param {string[]} actions */
  async go(actions) {
    const asked = this.asked;
    try {
      const found = await this.after(actions);
      if (asked === this.asked) this.viewer.showLine(found.steps);
    } catch (error) {
      this.fail(error);
    }
  }

  takeBack() {
    const { viewer } = this;
    if (!viewer.line) return;
    viewer.showLine(viewer.line.steps.slice(0, viewer.line.at));
  }

  /** Search, or stop until the person wants searches again. */
  switch() {
    this.eager = !this.running;
    if (!this.eager) return this.stop();
    if (this.rounds === ROUNDS.length) this.forget();
    this.viewer.panels.open("engine");
    this.search();
  }

  /** End the search that runs, if there is one: there is room for few. */
  stop() {
    if (!this.running) return;
    this.machine.end(this.running);
    this.running = "";
    this.tellProgress();
  }

  /** Search longer and longer, as long as the position is shown. */
  async search() {
    if (this.running) return;
    this.interrupted = false;
    const search = String(Math.random());
    this.running = search;
    const place = this.place();
    const { worlds, seed: chanceSeed, lines: plans, samples } = this.machine.packed;
    try {
      while (this.running === search && this.rounds < ROUNDS.length) {
        this.tellProgress();
        const [seconds, before] = [ROUNDS[this.rounds], performance.now()];
        const limits = { ms: 1000 * seconds, nodes: 0, plans, worlds, samples, chanceSeed };
        const asked = { ...place, ...limits, seconds, search, seed: this.seed++ };
        const found = await this.machine.ask("analyse", asked);
        if (this.running !== search || found?.stopped) return;
        if (!found) continue;
        this.rounds += 1;
        this.seconds += found.seconds ?? (performance.now() - before) / 1000;
        this.nodes += found.nodes;
        this.draw(found);
      }
    } catch (error) {
      if (this.running === search) this.fail(error);
    }
    if (this.running !== search) return;
    this.running = "";
    this.tellProgress();
  }

  /** Draw arrows for a line. @param {string[]} actions */
  point(actions) {
    this.viewer.board.point(actions);
  }

  /** The actions of a line in words. @param {Line} line */
  wordsOf({ actions, words, boards = [] }) {
    if (!actions.length) return "End the turn";
    const { board } = this.viewer.step;
    const told = words ?? this.teller.steps(actions, board, { boards }).map((step) => step.words);
    return told.join("; ");
  }

  /** What the opponent may hold. @param {[number, number, string?][]} found base ids, how likely each
   * card is, and its title */
  heldParts(found) {
    const { teller, machine } = this;
    // In the order of `held_cards`.
    if (!found[0]?.[2])
      found.sort((a, b) => b[1] - a[1] || teller.cost(a[0]) - teller.cost(b[0]) || a[0] - b[0]);
    const rows = found
      .slice(0, machine.packed.held)
      .map(([id, chance, title]) =>
        element("li", `${percent(chance)} `, element("bdi", title ?? teller.title(id))),
      );
    const title = element("h2", "The opponent may hold");
    return rows.length ? [title, element("ul.plain.small", ...rows)] : [];
  }

  /** What was done in the turn that is shown. */
  playedParts() {
    const { viewer } = this;
    const rest = viewer.steps.slice(viewer.turnStart(viewer.at) + 1);
    const next = rest.findIndex((step) => step.action === null);
    const words = rest.slice(0, next < 0 ? rest.length : next).map((step) => step.words);
    const played = element("p.small", element("bdi", words.join("; ")));
    return words.length ? [element("h2", "Played then"), played] : [];
  }

  /** @param {any} found */
  draw(found) {
    found.lines.sort((/** @type {Line} */ a, /** @type {Line} */ b) => b.chance - a.chance);
    const best = found.lines[0]?.actions ?? [];
    const lines = found.lines.map((/** @type {Line} */ line) => {
      const button = element(
        "button.line",
        {
          "data-place": line.actions.join(";") || "PASS",
          onclick: () => this.go(line.actions),
          onmouseenter: () => this.point(line.actions),
          onfocus: () => this.point(line.actions),
          onmouseleave: () => this.point(best),
          onblur: () => this.point(best),
        },
        element("b", percent(line.chance)),
        element("bdi", ` ${this.wordsOf(line)}`),
        line.searches
          ? element("small", ` found by ${line.searches} of ${found.searches} searches`)
          : "",
      );
      return element("li", button);
    });
    renew(this.lines, ...lines);
    this.note.textContent = found.note ?? this.machine.packed.note;
    this.point(best);
    this.held.replaceChildren(...this.playedParts(), ...this.heldParts(found.held));
  }

  /** @param {unknown} error */
  fail(error) {
    const text = element("p#engine-fault.notice", { role: "alert" }, textOf(error));
    this.fault.replaceChildren(text);
  }
}
