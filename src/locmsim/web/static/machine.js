// @ts-check
// The compiled engine: one match, and what both players know of it. It runs in the worker of a
// page's file.

/** A battle: the choice phase as each player was shown it, the base ids that they took, and either
 * the position at its first turn, in base 64, or the seed of its match.
 * @typedef {{start?: string, seed?: number|string, choices: string[][], taken: number[][]}} Battle */
/** How a level plays: see `Level` of the package.
 * @typedef {{slips: number, blur: number, nodes: number, first_ms: number,
 *   time_ms: number}} Level */
/** A turn with its visits and its result in millionths. @typedef {[string, number, number]} Plan */
/** @typedef {{value: number, visits: number, nodes: number, won: number, plans: Plan[],
 *   line: string}} Found */

const MILLION = 1e6;

/** The lower and the upper half of a seed. @param {number|string} seed */
function halves(seed) {
  const bits = BigInt.asUintN(64, BigInt(seed));
  return [Number(bits & 0xffffffffn), Number(bits >> 32n)];
}

/** The actions of a line. @param {string} line */
const actionsOf = (line) => line.split(";").filter(Boolean);

export class Machine {
  /** @param {WebAssembly.Instance} instance @param {Battle} battle */
  constructor(instance, battle) {
    /** @type {any} */
    this.engine = instance.exports;
    /** @type {number} */
    this.text = this.engine.locm_engine_text();
    this.seed = halves(battle.seed ?? 0);
    this.start = battle.start && Uint8Array.from(atob(battle.start), (one) => one.charCodeAt(0));
    this.engine.locm_engine_start();
    battle.choices.forEach((texts, player) => {
      this.choose(player, texts);
      const taken = battle.taken[player];
      if (taken) this.engine.locm_engine_took(player, this.write(taken.join(" ")));
    });
    if (this.start || battle.taken.length) this.go([]);
  }

  /** What the bot answers to each text of the choice phase. @param {number} player
   * @param {string[]} texts */
  choose(player, texts) {
    return texts.map((text) => {
      const kind = this.engine.locm_engine_read(player, this.write(text));
      const size = kind === 1 ? this.engine.locm_engine_choose(player) : 0;
      if (!size) throw new Error("the choice of cards is not of these rules");
      return this.read(size);
    });
  }

  /** Load a module. @param {WebAssembly.Module} module @param {Battle} battle */
  static async load(module, battle) {
    const env = { now: () => performance.now() };
    return new Machine(await WebAssembly.instantiate(module, { env }), battle);
  }

  /** Write into the engine's text; return its size. @param {string|Uint8Array} content */
  write(content) {
    const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
    new Uint8Array(this.engine.memory.buffer, this.text, bytes.length).set(bytes);
    return bytes.length;
  }

  /** Read the engine's text. @param {number} size */
  read(size) {
    return new TextDecoder().decode(new Uint8Array(this.engine.memory.buffer, this.text, size));
  }

  /** Go to the position after actions from the start of the battle, with PASS at the end of each
   * turn; return whose turn it is. @param {string[]} path @returns {number} -1 once somebody has won */
  go(path) {
    const begun = this.start
      ? this.engine.locm_engine_place(this.write(this.start))
      : this.engine.locm_engine_deal(this.seed[0], this.seed[1]);
    if (begun < 0) throw new Error(`position: ${this.read(-begun)}`);
    if (!begun) throw new Error("the position is not of these rules");
    this.engine.locm_engine_show();
    for (const action of path) this.do(action);
    return this.board().player;
  }

  /** Carry out an action; after PASS the next player is shown the position; throw an error if it is
   * not legal. @param {string} action */
  do(action) {
    if (!this.engine.locm_engine_do(this.write(action))) throw new Error(`illegal: ${action}`);
    if (action === "PASS" && this.board().winner === null) this.engine.locm_engine_show();
  }

  /** The position. Cards are base ids. @returns {any} */
  board() {
    return JSON.parse(this.read(this.engine.locm_engine_board()));
  }

  /** The legal actions but the end of the turn. @returns {string[]} */
  legal() {
    return actionsOf(this.read(this.engine.locm_engine_legal()));
  }

  // The following are answers to messages, each from the position after `path`.

  /** The triplets of a draft, as base ids. @param {{seed: number|string}} asked */
  offers({ seed }) {
    const [low, high] = halves(seed);
    const ids = this.read(this.engine.locm_engine_offers(low, high)).split(" ").map(Number);
    return Array.from({ length: 30 }, (_, i) => ids.slice(3 * i, 3 * i + 3));
  }

  /** The bot's answers in the choice phase. @param {{player: number, texts: string[]}} asked */
  answers({ player, texts }) {
    this.engine.locm_engine_start();
    return this.choose(player, texts);
  }

  /** The positions after each of some actions, up to a win, and what is legal then.
   * @param {{path: string[], actions: string[]}} asked */
  walk({ path, actions }) {
    this.go(path);
    const board = this.board();
    const boards = [];
    let { winner } = board;
    for (const action of actions) {
      if (winner !== null) break;
      this.do(action);
      boards.push(this.board());
      ({ winner } = boards[boards.length - 1]);
    }
    return { board, boards, actions: this.legal() };
  }

  /** The chance of winning with a line, by worlds in which it is played on.
   * @param {{path: string[], line: string, worlds: number, seed: number}} asked */
  chance({ path, line, worlds, seed }) {
    const player = this.go(path);
    return { chance: this.chanceOf(player, line, worlds, seed), player };
  }

  /** @param {number} player @param {string} line @param {number} worlds @param {number} seed
   * @param {number} [otherwise] the answer for an illegal line, which is else an error */
  chanceOf(player, line, worlds, seed, otherwise) {
    const size = this.write(line === "PASS" ? "" : line);
    const value = this.engine.locm_engine_value(player, size, worlds, seed, 0);
    if (value < -MILLION && otherwise !== undefined) return otherwise;
    if (value < -MILLION) throw new Error(`illegal: ${line}`);
    return (1 + value / MILLION) / 2;
  }

  /** The best line and others, with their chances.
   * @param {{path: string[], done: string[], seed: number, ms: number, nodes: number,
   *   plans: number, worlds: number, samples: number, chanceSeed: number}} asked `path` leads to the
   *   start of the turn, and `done` from there on */
  analyse({ path, done, seed, ms, nodes, plans, worlds, samples, chanceSeed }) {
    const here = [...path, ...done];
    const player = this.go(here);
    const found = this.search(player, seed, ms, nodes, plans);
    const held = JSON.parse(this.read(this.engine.locm_engine_held(player, samples)));
    const lines = [...new Set([found.line, ...found.plans.map(([line]) => line)])].slice(0, plans);
    const fromHere = lines.map((line) => this.chanceOf(player, line, worlds, chanceSeed));
    // Whole turns are compared, as the server does. Where a card was drawn in the turn, what is
    // done with it is not known at its start.
    if (done.length) this.go(path);
    const chances = lines.map((line, i) => {
      const whole = [...done, ...actionsOf(line)].join(";");
      return done.length
        ? this.chanceOf(player, whole, worlds, chanceSeed, fromHere[i])
        : fromHere[i];
    });
    return {
      nodes: found.nodes,
      lines: lines.map((line, i) => {
        const actions = actionsOf(line);
        return { actions, chance: chances[i], boards: this.walk({ path: here, actions }).boards };
      }),
      held: held.map((/** @type {[number, number]} */ [id, times]) => [id, times / samples]),
    };
  }

  /** Search from the position. @param {number} player @param {number} seed @param {number} ms 0: no
   * limit @param {number} nodes 0: no limit @param {number} [plans] @returns {Found} */
  search(player, seed, ms, nodes, plans = 0) {
    const size = this.engine.locm_engine_search(player, seed, 0, ms, nodes, plans);
    if (!size) throw new Error("there is nothing to search");
    return JSON.parse(this.read(size));
  }

  /** The turn that a level plays. @param {{path: string[], level: Level, begun: number,
   *   seed: number|string}} asked `begun` is the length of the path where it began to play, `seed`
   *   that of the match */
  turn({ path, level, begun, seed }) {
    const player = this.go(path);
    const turn = path.slice(begun).filter((action) => action === "PASS").length >> 1;
    const ms = turn ? level.time_ms : level.first_ms;
    const { slips, blur, nodes } = level;
    const [low, high] = halves(BigInt.asUintN(62, BigInt(seed)).toString());
    const size = this.engine.locm_engine_turn(player, slips, blur, ms, nodes, low, high, turn);
    return { actions: actionsOf(this.read(size)) };
  }
}
