// @ts-check
// The panel "Engine": what the searches find in the position that is shown, while one looks at it;
// and other turns, by clicks on the board.

import { element, number, percent } from "./dom.js";
import { Refused, notice, tell } from "./site.js";

/** @typedef {import("./viewer.js").Viewer} Viewer */
/** @typedef {{actions: string[], words: string[], chance: number, searches: number,
 *   visits: number}} Line */

/** Seconds of one search after the other: the first answer comes soon, then better ones. */
const ROUNDS = [0.4, 1, 2, 4, 8, 8];
/** Milliseconds after which a server that was busy is asked again. */
const BUSY_MS = 500;

export class Engine {
  /** @param {Viewer} viewer @param {string} key @param {boolean} fixed whether it is one position */
  constructor(viewer, key, fixed) {
    this.viewer = viewer;
    this.key = key;
    this.fixed = fixed;
    /** Numbers the positions that were looked at: only the last one's answers are shown. */
    this.asked = 0;
    /** The name of the search that runs, "" if none does. */
    this.running = "";
    this.searching = false;
    /** What is legal in the position that is shown. @type {string[]|undefined} */
    this.legal = undefined;
    this.shown = "";
    this.toggle = element("button", { id: "search", class: "main", onclick: () => this.switch() });
    this.progress = element("p", { class: "small dim", "aria-live": "polite" });
    this.lines = element("ul", { id: "lines", class: "plain" });
    this.now = element("div", { id: "now" });
    this.held = element("div", { id: "held" });
    const panel = element(
      "div",
      {},
      element("div", { class: "bar" }, this.toggle, this.back()),
      this.progress,
      this.lines,
      this.now,
      this.held,
    );
    this.label();
    viewer.addPanel("engine", "Engine", panel, () => this.look());
    // What was legal in the position before is not offered: a click on it would be lost.
    viewer.offer = () =>
      this.open && this.legal && this.shown === this.here() ? { actions: this.legal } : {};
    viewer.act = (action) => this.act(action);
    viewer.keys = { ...viewer.keys, a: () => viewer.open("engine"), s: () => this.switch() };
    viewer.listeners.push(() => this.look());
  }

  get open() {
    return this.viewer.isOpen("engine");
  }

  back() {
    this.undo = element("button", { id: "undo", text: "Undo", onclick: () => this.takeBack() });
    return this.undo;
  }

  label() {
    this.toggle.textContent = this.searching ? "Stop" : "Search";
    this.toggle.setAttribute("aria-pressed", String(this.searching));
  }

  /** Whether what is shown is beyond the end of the turn, in a sampled world. */
  get beyond() {
    const { line, steps, at } = this.viewer;
    return line?.steps.slice(0, line.at + 1).some((step) => step.turn !== steps[at].turn) ?? false;
  }

  /** The actions of the turn up to what is shown. */
  done() {
    const { viewer } = this;
    const start = viewer.turnStart(viewer.at);
    const steps = viewer.steps.slice(start + 1, viewer.at + 1);
    if (viewer.line && !this.beyond) steps.push(...viewer.line.steps.slice(0, viewer.line.at + 1));
    return steps.map((step) => step.action ?? "");
  }

  /** What the server is asked about. */
  place() {
    const { viewer } = this;
    const turn = this.fixed ? null : viewer.steps[viewer.at]?.turn;
    return { game: this.key, turn, actions: this.done() };
  }

  /** The position that is shown, as a key. */
  here() {
    return JSON.stringify([this.place(), this.beyond]);
  }

  /** Look at another position. */
  look() {
    const { viewer } = this;
    this.undo?.toggleAttribute("disabled", !viewer.line);
    if (!this.open || !viewer.step) return;
    const here = this.here();
    if (here === this.shown) return;
    this.shown = here;
    this.asked += 1;
    this.stop();
    this.legal = undefined;
    this.lines.replaceChildren();
    this.held.replaceChildren();
    this.progress.textContent = "";
    this.now.replaceChildren();
    viewer.board.point([]);
    if (this.beyond) {
      this.progress.textContent = "This is in a sampled world: Moves leads back.";
      return;
    }
    const asked = this.asked;
    setTimeout(() => {
      if (asked !== this.asked) return;
      this.know(asked);
      if (this.searching && !this.running) this.search(asked);
    }, 60);
  }

  /** What is legal here, and what the value network says. @param {number} asked */
  async know(asked) {
    const { viewer } = this;
    try {
      const found = await this.after([]);
      if (asked !== this.asked) return;
      this.legal = found.actions;
      const { names } = viewer.data;
      const parts = [];
      const winner = viewer.step.board.winner;
      if (winner !== null)
        parts.push(
          element("p", { id: "chance" }, element("bdi", { text: names[winner] }), " wins."),
        );
      else if (found.chance !== null) {
        const words = ` wins with a chance of ${percent(found.chance)} if the turn ends here (value network).`;
        parts.push(
          element("p", { id: "chance" }, element("bdi", { text: names[found.mover] }), words),
        );
      }
      this.now.replaceChildren(...parts);
      viewer.redraw();
    } catch (error) {
      this.fail(error);
    }
  }

  /** The steps of actions from what is shown. @param {string[]} actions */
  async after(actions) {
    const { viewer } = this;
    const line = viewer.line?.steps.slice(0, viewer.line.at + 1) ?? [];
    const all = [...line.map((step) => step.action ?? ""), ...actions];
    const found = await tell("/api/analyse/step", {
      game: this.key,
      step: viewer.at,
      actions: all,
    });
    Object.assign(viewer.data.cards, found.cards);
    return found;
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

  switch() {
    this.searching = !this.searching;
    this.label();
    this.viewer.open("engine");
    if (this.searching) this.search(this.asked);
    else this.stop();
  }

  /** End the search that runs, if there is one. */
  stop() {
    if (!this.running) return;
    tell("/api/analyse/stop", { search: this.running }).catch(() => {});
    this.running = "";
    if (this.progress.textContent?.startsWith("Searching")) this.progress.textContent = "";
  }

  /** Search longer and longer, as long as the position is shown. @param {number} asked */
  async search(asked) {
    const place = this.place();
    let seconds = 0;
    let nodes = 0;
    for (const round of ROUNDS) {
      if (!this.searching || asked !== this.asked) return;
      const said = nodes ? `${number(nodes)} positions in ${seconds.toFixed(1)} s` : "";
      this.progress.textContent = `Searching\u2026 ${said}`;
      try {
        const found = await this.round({ ...place, seconds: round }, asked);
        if (!found || asked !== this.asked) return;
        seconds += found.seconds;
        nodes += found.nodes;
        this.draw(found);
      } catch (error) {
        if (asked === this.asked) {
          this.searching = false;
          this.label();
          this.progress.textContent = "";
          this.fail(error);
        }
        return;
      }
      if (asked !== this.asked) return;
      this.progress.textContent = `${number(nodes)} positions in ${seconds.toFixed(1)} s`;
    }
    if (asked === this.asked) {
      this.searching = false;
      this.label();
    }
  }

  /**
   * One search; null if it was stopped. The server has room for few at a time, those of other pages too.
   * @param {object} data @param {number} asked
   */
  async round(data, asked) {
    while (this.searching && asked === this.asked) {
      try {
        const search = String(Math.random());
        this.running = search;
        const found = await tell("/api/analyse/search", { ...data, search });
        if (this.running !== search) return null; // it was stopped
        this.running = "";
        return found.stopped ? null : found;
      } catch (error) {
        if (!(error instanceof Refused && error.status === 429)) throw error;
        await new Promise((resolve) => setTimeout(resolve, BUSY_MS));
      }
    }
    return null;
  }

  /** @param {any} found */
  draw(found) {
    const { board } = this.viewer;
    const lines = found.lines.map((/** @type {Line} */ line) => {
      const words = line.words.length ? line.words : ["End the turn"];
      const button = element(
        "button",
        {
          class: "line",
          "data-line": line.actions.join(";") || "PASS",
          onclick: () => this.go(line.actions),
          onmouseenter: () => board.point(line.actions),
          onfocus: () => board.point(line.actions),
          onmouseleave: () => board.point([]),
          onblur: () => board.point([]),
        },
        element("b", { text: percent(line.chance) }),
        element("bdi", { text: ` ${words.join("; ")}` }),
        element("small", {
          text: ` ${line.searches} of ${found.searches} searches, ${number(line.visits)} visits`,
        }),
      );
      return element("li", {}, button);
    });
    this.lines.replaceChildren(...lines);
    const held = found.opponent_hand.map((/** @type {{title: string, chance: number}} */ card) =>
      element("li", {}, `${percent(card.chance)} `, element("bdi", { text: card.title })),
    );
    const parts = [];
    const played = found.played_words.join("; ") || (found.played && "The turn ends");
    if (played)
      parts.push(
        element("h2", { text: "Played then" }),
        element("p", { class: "small" }, element("bdi", { text: played })),
      );
    if (held.length)
      parts.push(
        element("h2", { text: "The opponent may hold" }),
        element("ul", { class: "plain small" }, ...held),
      );
    this.held.replaceChildren(...parts);
  }

  /** @param {unknown} error */
  fail(error) {
    notice(error instanceof Error ? error.message : String(error));
  }
}
