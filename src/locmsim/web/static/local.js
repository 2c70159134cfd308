// @ts-check
// The engine that a page's file has in it, without a server, and the steps of what machines tell.

import { LANE_NAMES } from "./board.js";
import { unpacked } from "./packed.js";

/** @typedef {import("./viewer.js").Step} Step */
/** @typedef {import("./viewer.js").Match} Match */
/** The module and the battle, packed; the worker's program; how the levels play; how chances are
 * measured; how many lines and cards are shown. @typedef {{module: string, battle?: string, worker: string,
 *   levels: import("./machine.js").Level[], worlds: number, seed: number, note: string,
 *   lines: number, held: number, samples: number}} Packed */

/** Who answers the messages of `Machine`: the engine in a worker, or the server. A search that is
 * ended answers that it was stopped; how chances are measured and what is shown stands in `packed`.
 * @typedef {{ask: (what: string, asked: any) => Promise<any>, end: (search?: string) => void,
 *   close: () => void,
 *   packed: {worlds: number, seed: number, note: string, lines: number, held: number,
 *   samples: number}}} Asked */

/** A search that was ended before it had an answer. */
class Ended extends Error {
  name = "Ended";
}

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
    try {
      return await this.send(await this.starting, what, asked);
    } catch (error) {
      if (what === "analyse" && error instanceof Ended) return { stopped: true };
      throw error;
    }
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
  /** @param {Pick<Match, "cards"|"lanes"|"names">} data */
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

  /** A position with keys in place of base ids; the server tells keys. @param {any} board */
  position(board) {
    for (const side of board.sides)
      for (const one of [...side.hand, ...side.board])
        if (typeof one?.[1] === "number") one[1] = this.key(one[1]);
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

  /** The steps of actions from a position, from what follows them. @param {string[]} actions
   * @param {import("./board.js").Position} board
   * @param {{boards: any[], words?: string[]}} found @returns {Step[]} */
  steps(actions, board, { boards, words: told }) {
    return actions.map((action, i) => {
      const ends = action === "PASS";
      const words = ends ? "" : (told?.[i] ?? this.words(action, board));
      const { turn } = board;
      board = this.position(boards[i]);
      if (ends) return { turn: board.turn, player: board.turn & 1, action: null, words, board };
      return { turn, player: turn & 1, action, words, board };
    });
  }
}
