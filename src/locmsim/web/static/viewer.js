// @ts-check
// A match, step by step: the board, the list of moves, the slider, the chart of search values. Pages add
// panels to it; a replay's file has it as it is. Its parts are in modules of their own.

import { Board } from "./board.js";
import "./cardtext.js";
import { chartOf, drawChart, markPlace } from "./chart.js";
import {
  against,
  element,
  isolated,
  nameOf,
  onKeys,
  searchValue,
  select,
  setValue,
  valueOf,
} from "./dom.js";
import { aboutPanel, cardsPanel } from "./matchpanels.js";
import { MoveList, tellStep } from "./moves.js";
import { Panels } from "./panels.js";
import { Playback } from "./playback.js";

/** @typedef {import("./board.js").Position} Position */
/** @typedef {{turn: number, player: number, action: string|null, words: string, board: Position,
 *   answer?: string|null, chat?: string, illegal?: string[], stderr?: string, ms?: number,
 *   value?: number, theirs?: string[]}} Step */
/** @typedef {import("./cards.js").Deck & {rules: string, lanes: number, names: string[],
 *   seat: number|null, view?: number|null, winner: number|null,
 *   fault: null|{player: number, kind: string, message: string}, params: Record<string, string>,
 *   stderr: string[], choice_stderr?: string[], choice: string[][], offers: string[][],
 *   steps: Step[], captured?: number, running?: boolean, kind?: string, agents?: string[],
 *   files?: string}} Match */

export class Viewer {
  /** @param {HTMLElement} host @param {Match} data @param {(action: string) => void} [act] what a
   * click on the board does where there are actions */
  constructor(host, data, act) {
    this.data = data;
    this.steps = data.steps;
    this.at = 0;
    /** Steps beside the match, and which of them is shown. @type {{steps: Step[], at: number}|null} */
    this.line = null;
    /** Called after each change of the position or the panel that is shown. @type {(() => void)[]} */
    this.listeners = [];
    /** What can be done in the position that is shown.
     * @type {(() => Partial<import("./board.js").Scene>)|undefined} */
    this.offer = undefined;
    /** What a click on the board does there. @type {(action: string) => void} */
    this.act = act ?? (() => {});
    /** @type {number|undefined} */
    this.remembering = undefined;
    this.board = new Board(data, (action) => this.act(action));
    this.playback = new Playback(this);
    /** @type {MoveList<Step>} */
    this.moves = new MoveList(
      (index) => this.show(index),
      (step, entry) => tellStep(this.moves, data.names, step, entry),
    );
    this.panels = new Panels(() => {
      this.moves.reveal();
      this.changed();
    });
    this.chart = this.valueChart();
    this.value = element("p#value.small.dim");
    this.said = element("p#said", { "aria-live": "polite" });
    /** What can be done, in a match that is played. */
    this.tools = element("div#tools.tools");
    this.view = this.viewChoice();
    /** Whether a person plays, from whom the other hand is kept. */
    this.viewKept = false;
    this.title = element("h1#title");
    this.outcome = element("p#outcome.dim");
    this.root = this.layout();
    const about = aboutPanel(data, () => this.at);
    this.panels.add("moves", "Moves", this.moves.root, "m");
    this.panels.add("decks", "Cards", cardsPanel(data), "c");
    this.panels.add("about", "About", about, "i");
    /** Further keys. @type {Record<string, () => void>} */
    this.keys = {};
    this.panels.open("moves");
    host.replaceChildren(this.root);
    this.caption();
    this.list();
    this.follow();
    addEventListener("hashchange", () => this.follow());
    onKeys(() => (this.root.isConnected ? this.actions() : {}));
  }

  /** The chart of search values, where a click leads to a step. */
  valueChart() {
    const chart = chartOf("Search value by turn", "chart");
    chart.addEventListener("click", (event) => {
      const box = chart.getBoundingClientRect();
      const { clientX } = /** @type {MouseEvent} */ (event);
      this.show(Math.round(((clientX - box.left) / box.width) * (this.steps.length - 1)));
    });
    return chart;
  }

  /** The choice of the hand that is shown. */
  viewChoice() {
    const { names } = this.data;
    const views = /** @type {[string, string][]} */ ([
      ["2", "both hands"],
      ...names.map((name, player) => [String(player), `only ${isolated(name)}`]),
    ]);
    const see = () => this.see(Number(valueOf("view")));
    return select("view", "Hands", views, String(this.board.view), see);
  }

  /** All parts, side by side. */
  layout() {
    const { playback, panels } = this;
    return element(
      "div.match",
      element("div.head", this.title, this.outcome),
      element("div.stage", this.board.root),
      element(
        "div.aside",
        this.tools,
        this.said,
        element("div.values", this.chart, this.value),
        playback.controls,
        playback.slider,
        panels.tabs,
        panels.box,
        element("div.settings.small.dim", this.view, playback.speed),
      ),
    );
  }

  /** The step that is shown. */
  get step() {
    return this.line ? this.line.steps[this.line.at] : this.steps[this.at];
  }

  /** The step before it. @returns {Step|undefined} */
  get before() {
    if (!this.line) return this.steps[this.at - 1];
    return this.line.at ? this.line.steps[this.line.at - 1] : this.steps[this.at];
  }

  /** The index of the step that begins the turn of a step. @param {number} index */
  turnStart(index) {
    while (index > 0 && this.steps[index].action !== null) index -= 1;
    return index;
  }

  // ------------------------------------------------------------------------------ what is shown

  /** Show a step of the match. @param {number} index */
  show(index) {
    if (!this.steps.length) {
      this.board.root.classList.add("empty");
      this.said.textContent = this.data.running ? "" : "The match ended before the battle.";
      return;
    }
    this.line = null;
    this.board.pointed = [];
    this.at = Math.max(0, Math.min(this.steps.length - 1, index));
    this.redraw();
    const { step } = this;
    this.remember(
      step.action === null ? `#turn=${step.turn}` : `#turn=${step.turn}&step=${this.at}`,
    );
    if (this.at === this.steps.length - 1) this.playback.pause();
  }

  /** Show steps that go on from the step that is shown, beside the match.
   * @param {Step[]} steps @param {number} [at] */
  showLine(steps, at = steps.length - 1) {
    this.board.pointed = [];
    this.line = steps.length ? { steps, at: Math.max(0, at) } : null;
    this.redraw();
  }

  redraw() {
    const { step, before } = this;
    if (!step) return;
    this.board.root.classList.remove("empty");
    const start = this.line ? undefined : this.steps[this.turnStart(this.at)];
    this.board.show({
      board: step.board,
      before: before?.board ?? null,
      acted: step.action,
      chat: start?.chat,
      player: step.player,
      ...this.offer?.(),
    });
    this.moves.mark(this.at);
    this.playback.mark(this.at);
    markPlace(this.chart, this.steps.length - 1, this.at);
    const names = this.data.names;
    this.value.replaceChildren();
    if (step.value !== undefined)
      this.value.append("Value network, for ", nameOf(names, 0), `: ${searchValue(step.value)}`);
    this.said.replaceChildren(
      element("bdi", step.words || `Turn ${step.turn}, ${names[step.player]}`),
    );
    this.changed();
  }

  /** Tell the listeners that something else is shown. */
  changed() {
    for (const listener of this.listeners) listener();
  }

  /** Replace the steps from an index on, in a match that is being played. @param {number} start
   * @param {Step[]} steps */
  grow(start, steps) {
    const last = this.at >= this.steps.length - 1;
    this.steps.splice(start, this.steps.length, ...steps);
    this.list();
    if (last || this.at >= this.steps.length) this.show(this.steps.length - 1);
    else this.redraw();
  }

  /** @param {number} way */
  walk(way) {
    if (!this.line) return this.show(this.at + way);
    const at = this.line.at + way;
    if (at < 0) return this.show(this.at);
    if (at < this.line.steps.length) this.line.at = at;
    this.redraw();
  }

  /** The start of the next or the previous turn. @param {number} way */
  turn(way) {
    let index = this.at + way;
    const last = this.steps.length - 1;
    while (index > 0 && index < last && this.steps[index].action !== null) index += way;
    this.show(index);
  }

  flip() {
    this.board.flip();
  }

  /** Show the hand of one player and no other, until the person may choose again (null).
   * @param {number|null} player */
  keepView(player) {
    this.viewKept = player !== null;
    this.view.hidden = this.viewKept;
    if (player !== null) this.board.view = player;
  }

  /** Whose hand is shown. @param {number} view */
  see(view) {
    if (this.viewKept) return;
    this.board.view = view;
    setValue("view", view);
    this.redraw();
  }

  /** Put the place into the address once it stays: browsers limit how often that may be done.
   * @param {string} hash */
  remember(hash) {
    if (this.data.running) return;
    clearTimeout(this.remembering);
    const before = location.hash;
    this.remembering = setTimeout(() => {
      // Another address is followed first.
      if (location.hash === before) history.replaceState(null, "", hash);
    }, 300);
  }

  /** Show what the address names. */
  follow() {
    const place = new URLSearchParams(location.hash.slice(1));
    const wanted = place.get("step");
    const turn = Number(place.get("turn") ?? -1);
    const first = this.steps.findIndex((step) => step.turn === turn);
    const known = wanted !== null && Number.isInteger(Number(wanted));
    this.show(known ? Number(wanted) : Math.max(0, first));
  }

  /** What keys do. @returns {Record<string, () => void>} */
  actions() {
    return {
      ...this.playback.keys,
      ArrowUp: () => this.turn(-1),
      ArrowDown: () => this.turn(1),
      f: () => this.flip(),
      v: () => this.see((this.board.view + 1) % 3),
      ...this.panels.keys,
      ...this.keys,
    };
  }

  // ---------------------------------------------------------------------------------- the panels

  /** Show who plays, by which rules, and how the match ended. */
  caption() {
    const { data } = this;
    const { names, fault } = data;
    this.title.replaceChildren(...against(names));
    /** @type {(Node|string)[]} */
    const words = [`LOCM ${data.rules}`];
    if (data.captured !== undefined) words.push(", as one of the bots saw it");
    else if (data.params.seed !== undefined) words.push(`, seed ${data.params.seed}`);
    if (data.winner !== null) words.push(": ", nameOf(names, data.winner), " won");
    else if (!data.running && data.captured === undefined && data.params.seed !== undefined)
      words.push(": no winner");
    if (fault) {
      const why = ` lost by a fault: ${fault.kind}: ${fault.message}`;
      words.push("; ", nameOf(names, fault.player), why);
    }
    this.outcome.replaceChildren(...words);
    this.outcome.title = this.outcome.textContent ?? "";
    this.outcome.classList.toggle("fault", Boolean(fault));
    document.title = `${names[0]} against ${names[1]}`;
  }

  /** Draw the list of moves and the chart again. */
  list() {
    this.moves.draw(this.steps);
    this.playback.reach(this.steps.length);
    this.drawChart();
  }

  drawChart() {
    const { chart, steps } = this;
    /** @type {number[]} */
    const x = [];
    /** @type {number[]} */
    const y = [];
    steps.forEach(({ value }, i) => {
      if (value === undefined) return;
      if (x.length) {
        x.push(i);
        y.push(y[y.length - 1]);
      }
      x.push(i);
      y.push(value);
    });
    const last = steps.length - 1;
    const lines = [{ y: 0, class: "even" }];
    drawChart(chart, { x, y, low: y.map(() => -1), high: y, bottom: -1, top: 1, last, lines });
    /** @type {HTMLElement} */ (chart.parentElement).hidden = x.length < 2;
  }
}
