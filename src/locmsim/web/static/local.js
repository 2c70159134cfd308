// @ts-check
// The engine that a page's file has in it: what the panel "Engine" asks, and the steps of what it
// plays, without a server.

import { LANE_NAMES } from "./board.js";
import { element } from "./dom.js";
import { unpacked } from "./files.js";

/** @typedef {import("./viewer.js").Step} Step */
/** @typedef {import("./viewer.js").Match} Match */
/** The module and the battle, packed; the worker's program; how the levels play; how chances are
 * measured; how many lines and cards are shown. @typedef {{module: string, battle?: string, worker: string,
 *   levels: import("./machine.js").Level[], worlds: number, seed: number, note: string,
 *   lines: number, held: number, samples: number}} Packed */

/** A search that was ended before it had an answer. */
class Ended extends Error {}

/** The engine in a worker. A search cannot be interrupted: ending one ends the worker, and the next
 * question starts another one. */
export class Local {
  /** @param {Packed} packed */
  constructor(packed) {
    this.packed = packed;
    /** @type {Promise<Worker>|null} */
    this.starting = null;
    /** @type {Worker|null} */
    this.worker = null;
    /** Compiled once. @type {Promise<{module: WebAssembly.Module, battle: any}>|null} */
    this.loaded = null;
    /** Another battle than the packed one. @type {{battle?: import("./machine.js").Battle}} */
    this.other = {};
    /** What waits for an answer, by number. @type {Map<number, [(answer: any) => void,
     *   (error: Error) => void]>} */
    this.waiting = new Map();
    this.count = 0;
  }

  /** The levels, as options of a choice. @returns {[string, string][]} */
  get levels() {
    return this.packed.levels.map((_, i) => [String(i + 1), `level ${i + 1}`]);
  }

  /** Unpack and compile the module. */
  async load() {
    if (typeof WebAssembly !== "object" || typeof DecompressionStream !== "function")
      throw new Error("This browser cannot run the engine: it has no WebAssembly.");
    try {
      const module = await unpacked(this.packed.module).arrayBuffer();
      const battle = this.packed.battle && (await unpacked(this.packed.battle).json());
      return { module: await WebAssembly.compile(module), battle };
    } catch (error) {
      throw new Error(`The engine in this file is damaged: ${String(error).slice(0, 200)}`);
    }
  }

  async start() {
    this.loaded ??= this.load();
    const loaded = { ...(await this.loaded), ...this.other };
    const address = URL.createObjectURL(
      new Blob([this.packed.worker], { type: "text/javascript" }),
    );
    const worker = new Worker(address);
    this.worker = worker;
    worker.onmessage = ({ data: { id, answer, error } }) => {
      const [take, refuse] = this.waiting.get(id) ?? [];
      this.waiting.delete(id);
      if (error === undefined) take?.(answer);
      else refuse?.(new Error(error));
    };
    worker.onerror = (event) => {
      event.preventDefault();
      this.refuse(new Error("The engine in this file does not run in this browser."));
    };
    await this.send(worker, "load", loaded);
    URL.revokeObjectURL(address);
    return worker;
  }

  /** @param {Worker} worker @param {string} what @param {any} asked @returns {Promise<any>} */
  send(worker, what, asked) {
    const id = ++this.count;
    return new Promise((take, refuse) => {
      this.waiting.set(id, [take, refuse]);
      worker.postMessage({ id, what, asked });
    });
  }

  /** Ask a method of `Machine`. @param {string} what @param {any} asked */
  async ask(what, asked) {
    this.starting ??= this.start();
    return this.send(await this.starting, what, asked);
  }

  /** @param {Error} error */
  refuse(error) {
    const waiting = [...this.waiting.values()];
    this.waiting.clear();
    for (const [, refuse] of waiting) refuse(error);
  }

  /** Turn to another battle. @param {import("./machine.js").Battle} battle */
  turnTo(battle) {
    this.close();
    this.other = { battle };
  }

  /** End whatever is being searched. */
  end() {
    if (this.waiting.size) this.close();
  }

  /** End the worker. */
  close() {
    this.worker?.terminate();
    this.worker = this.starting = null;
    this.refuse(new Ended());
  }
}

/** The actions that lead to a step, from the start of the battle. @param {Step[]} steps */
export function pathTo(steps) {
  return steps.slice(1).map((step) => step.action ?? "PASS");
}

/** Positions as the engine tells them, as pages draw them; and actions in words. */
export class Teller {
  /** @param {Match} data */
  constructor(data) {
    this.data = data;
    const ids = Object.entries(data.cards).map(([key, card]) => [card.row[0], key]);
    /** @type {Map<number, string>} */
    this.keys = new Map(/** @type {[number, string][]} */ (ids));
  }

  /** @param {number} id a base id */
  key(id) {
    return this.keys.get(id) ?? "";
  }

  /** @param {number} id a base id */
  title(id) {
    return this.data.cards[this.key(id)]?.title ?? `card ${id}`;
  }

  /** @param {number} id a base id */
  cost(id) {
    return this.data.cards[this.key(id)]?.row[2] ?? 0;
  }

  /** @param {any} board */
  position(board) {
    for (const side of board.sides) {
      for (const held of side.hand) held[1] = this.key(held[1]);
      for (const creature of side.board) creature[1] = this.key(creature[1]);
    }
    return board;
  }

  /** An action in words, as the package's `action_words`. @param {string} action
   * @param {import("./board.js").Position} board the position before it */
  words(action, board) {
    const { cards, lanes, names } = this.data;
    const [word, first, second] = action.split(" ");
    /** @param {string} id */
    const title = (id) => {
      for (const side of board.sides)
        for (const one of [...side.board, ...side.hand])
          if (one && String(one[0]) === id) return cards[one[1]].title;
      return names[1 - board.player];
    };
    if (word === "SUMMON")
      return `${title(first)} is summoned${lanes > 1 ? ` to the ${LANE_NAMES[Number(second)]} lane` : ""}`;
    return `${title(first)} ${word === "ATTACK" ? "attacks" : "is used on"} ${title(second)}`;
  }

  /** The steps of actions from a position, from the positions after them. @param {string[]} actions
   * @param {import("./board.js").Position} board @param {any[]} boards @returns {Step[]} */
  steps(actions, board, boards) {
    return actions.map((action, i) => {
      const ends = action === "PASS";
      const words = ends ? "" : this.words(action, board);
      const { turn } = board;
      board = this.position(boards[i]);
      if (ends) return { turn: board.turn, player: board.turn & 1, action: null, words, board };
      return { turn, player: turn & 1, action, words, board };
    });
  }
}

/** What the panel "Engine" asks, answered by the engine in the file. */
export class LocalSource {
  /** @param {import("./viewer.js").Viewer} viewer @param {Local} local */
  constructor(viewer, local) {
    this.viewer = viewer;
    this.local = local;
    this.teller = new Teller(viewer.data);
    this.seed = 0;
  }

  /** The path to the start of the turn that is shown. */
  turnPath() {
    const { viewer } = this;
    return pathTo(viewer.steps.slice(0, viewer.turnStart(viewer.at) + 1));
  }

  /** @param {{actions: string[]}} asked beside the match, from the step that is shown */
  async step({ actions }) {
    const { viewer } = this;
    this.local.end(); // a search that runs is of another position
    const path = pathTo(viewer.steps.slice(0, viewer.at + 1));
    const { board } = viewer.steps[viewer.at];
    const found = await this.local.ask("walk", { path, actions });
    const steps = this.teller.steps(actions, board, found.boards);
    return { steps, actions: found.actions, cards: {} };
  }

  /** @param {{actions: string[]}} asked */
  async chance({ actions }) {
    const { worlds, seed } = this.local.packed;
    const asked = { path: this.turnPath(), line: actions.join(";"), worlds, seed };
    const { chance, player } = await this.local.ask("chance", asked);
    return { chance, mover: player };
  }

  /** @param {{actions: string[], seconds: number}} asked */
  async search({ actions, seconds }) {
    const { viewer } = this;
    const before = performance.now();
    const done = this.played();
    const { board } = viewer.step;
    const { worlds, note, lines, samples, seed: chanceSeed } = this.local.packed;
    const limits = { ms: 1000 * seconds, nodes: 0, plans: lines, worlds, samples, chanceSeed };
    const asked = { path: this.turnPath(), done: actions, seed: this.seed++, ...limits };
    let found;
    try {
      found = await this.local.ask("analyse", asked);
    } catch (error) {
      if (error instanceof Ended) return { stopped: true };
      throw error;
    }
    return {
      stopped: false,
      note,
      lines: this.lines(found.lines, board),
      nodes: found.nodes,
      seconds: (performance.now() - before) / 1000,
      played: "",
      played_words: done,
      opponent_hand: this.held(found.held),
    };
  }

  /** What was done in the turn that is shown, in words. */
  played() {
    const { steps, at } = this.viewer;
    const rest = steps.slice(this.viewer.turnStart(at) + 1);
    const next = rest.findIndex((step) => step.action === null);
    return rest.slice(0, next < 0 ? rest.length : next).map((step) => step.words);
  }

  /** @param {{actions: string[], chance: number, boards: any[]}[]} found
   * @param {import("./board.js").Position} board */
  lines(found, board) {
    return found
      .map(({ actions, chance, boards }) => {
        const words = this.teller.steps(actions, board, boards).map((step) => step.words);
        return { actions, words, chance };
      })
      .sort((a, b) => b.chance - a.chance);
  }

  /** @param {[number, number][]} found base ids, and how likely each card is */
  held(found) {
    const cost = (/** @type {number} */ id) => this.teller.cost(id);
    // In the order of `held_cards`.
    const byChance = (/** @type {[number, number]} */ a, /** @type {[number, number]} */ b) =>
      b[1] - a[1] || cost(a[0]) - cost(b[0]) || a[0] - b[0];
    const likely = found.sort(byChance).slice(0, this.local.packed.held);
    return likely.map(([id, chance]) => ({ title: this.teller.title(id), chance }));
  }

  stop() {
    this.local.end();
  }

  /** @param {string} text */
  tell(text) {
    const panel = this.viewer.panels.box.querySelector("#engine");
    panel?.querySelector("#engine-fault")?.remove();
    if (text) panel?.prepend(element("p#engine-fault.notice", { role: "alert" }, text));
  }
}

/** The same in a match that a person plays: advice for their own turns only, since the engine knows
 * what the player of a turn holds. */
export class AdviceSource extends LocalSource {
  /** @param {any} asked */
  async step(asked) {
    const { player } = this.viewer.steps[this.viewer.at].board;
    if (player >= 0 && player !== this.viewer.data.seat)
      throw new Error("The engine advises you in your own turns.");
    this.tell("");
    return super.step(asked);
  }
}
