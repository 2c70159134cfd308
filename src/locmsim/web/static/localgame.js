// @ts-check
// A match that a person plays on from a position, against a level of the engine in the file.

import { button, element } from "./dom.js";
import { Engine } from "./engine.js";
import { save } from "./files.js";
import { AdviceSource, Local, pathTo, Teller } from "./local.js";
import { logOf } from "./matchtext.js";
import { Viewer } from "./viewer.js";

/** @typedef {import("./viewer.js").Step} Step */

const SHOWN_MS = 700;
const calm = matchMedia("(prefers-reduced-motion: reduce)");
const SEEDS = 2 ** 32;

export class LocalGame {
  /** @param {HTMLElement} host @param {import("./viewer.js").Match} match
   * @param {import("./local.js").Local} local
   * @param {{steps: Step[], seat: number, level: number, back: string, leave: () => void,
   *   begun?: () => Promise<import("./matchtext.js").Begun>}} from where it begins: the steps so
   * far; who plays it; how to leave it; what its log begins with, if it can have one */
  constructor(host, match, local, { steps, seat, level, back, leave, begun }) {
    this.local = local;
    this.level = local.packed.levels[level - 1];
    this.seat = seat;
    // Advice has an engine of its own: ending a search of it must not end the level's.
    this.advice = new Local(local.packed);
    this.advice.other = local.other;
    this.begun = begun;
    /** Whether the level has played no turn yet: it thinks longer in its first one. */
    this.first = true;
    /** What is legal for the person, in the last position. @type {string[]|null} */
    this.legal = null;
    const names = [`Level ${level}`, `Level ${level}`];
    names[seat] = "You";
    const played = { names, seat, view: seat, winner: null, fault: null, running: true };
    const rest = { steps: [...steps], agents: undefined, files: undefined, stderr: ["", ""] };
    this.viewer = new Viewer(host, { ...match, ...played, ...rest }, (action) => this.act(action));
    this.teller = new Teller(this.viewer.data);
    this.end = button("#end.main", "End turn", () => this.act("PASS"));
    this.undo = button("#back", "Take back", () => this.takeBack());
    const away = button("#leave", back, () => {
      this.advice.close();
      leave();
    });
    this.result = element("h2.result", { hidden: true });
    this.viewer.tools.append(this.result, element("div.bar", this.end, this.undo, away));
    new Engine(this.viewer, new AdviceSource(this.viewer, this.advice), "", false);
    this.viewer.act = (action) => this.act(action);
    this.viewer.offer = () => this.offer();
    this.viewer.keys = {
      ...this.viewer.keys,
      e: () => this.legal && this.act("PASS"),
      u: () => this.takeBack(),
    };
    this.viewer.keepView(seat);
    this.viewer.show(this.viewer.steps.length - 1);
    this.ready();
  }

  /** What can be done in the position that is shown. */
  offer() {
    const { viewer } = this;
    if (viewer.line) return {};
    if (viewer.at < viewer.steps.length - 1)
      return this.legal ? { prompt: "It is your turn: go to the last step to act." } : {};
    if (this.last.winner !== null) return { prompt: "The game is over." };
    return this.legal ? { actions: this.legal } : { prompt: "The opponent is thinking\u2026" };
  }

  /** The position at the end. */
  get last() {
    return this.viewer.steps[this.viewer.steps.length - 1].board;
  }

  /** Show whose turn it is now, and let a level play its own. */
  async ready() {
    const { viewer } = this;
    const { winner } = this.last;
    this.legal = null;
    this.tell();
    try {
      if (winner !== null) this.over(winner);
      else if (this.last.player === this.seat) await this.ask();
      else await this.answer();
    } catch (error) {
      viewer.said.textContent = String(error instanceof Error ? error.message : error);
    }
  }

  async ask() {
    const path = pathTo(this.viewer.steps);
    this.legal = (await this.local.ask("walk", { path, actions: [] })).actions;
    this.tell();
  }

  /** Play the turn of the level. */
  async answer() {
    const { viewer, level } = this;
    const path = pathTo(viewer.steps);
    const seed = Math.floor(Math.random() * SEEDS);
    const asked = { path, level, chance: Math.random(), seed, first: this.first };
    const { actions } = await this.local.ask("turn", asked);
    this.first = false;
    for (const step of await this.after([...actions, "PASS"])) {
      if (this.last.winner !== null || !viewer.root.isConnected) break;
      viewer.grow(viewer.steps.length, [step]);
      if (!calm.matches) await new Promise((resolve) => setTimeout(resolve, SHOWN_MS));
    }
    if (viewer.root.isConnected) await this.ready();
  }

  /** The steps of actions from the last position; a win ends them. @param {string[]} actions */
  async after(actions) {
    const path = pathTo(this.viewer.steps);
    const { boards } = await this.local.ask("walk", { path, actions });
    return this.teller.steps(actions.slice(0, boards.length), this.last, boards);
  }

  /** Carry out an action of the person. @param {string} action */
  async act(action) {
    const { viewer } = this;
    if (!this.legal || !(action === "PASS" || this.legal.includes(action))) return;
    if (viewer.at < viewer.steps.length - 1) viewer.show(viewer.steps.length - 1);
    this.legal = null;
    this.enable();
    viewer.grow(viewer.steps.length, await this.after([action]));
    await this.ready();
  }

  /** Take back the last action of the turn. */
  takeBack() {
    const { viewer } = this;
    if (!this.legal || viewer.steps[viewer.steps.length - 1].action === null) return;
    viewer.grow(viewer.steps.length - 1, []);
    this.ready();
  }

  tell() {
    this.enable();
    this.viewer.redraw();
  }

  /** Let the buttons be pressed where they do something. */
  enable() {
    const { steps } = this.viewer;
    this.end.toggleAttribute("disabled", !this.legal);
    this.undo.toggleAttribute("disabled", !this.legal || steps[steps.length - 1].action === null);
  }

  /** @param {number} winner */
  over(winner) {
    this.result.textContent = winner === this.seat ? "You won" : "You lost";
    this.result.hidden = false;
    this.viewer.data.winner = winner;
    this.viewer.caption();
    this.viewer.keepView(null);
    this.viewer.redraw();
    if (this.begun) this.result.after(element("div.bar", this.saver(this.begun)));
  }

  /** A button that saves the log. @param {() => Promise<import("./matchtext.js").Begun>} begun */
  saver(begun) {
    return button("#save-log", "Log", async () =>
      save(logOf(await begun(), this.viewer.data), "match.json"),
    );
  }
}
