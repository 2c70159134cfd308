// @ts-check
// The one-file page in which a person plays whole matches against a level of the engine: who plays,
// the choice of cards, the battle, and the log.

import { painter } from "./cards.js";
import { ChoiceView } from "./choice.js";
import { $, element, select, valueOf } from "./dom.js";
import { Local, Teller, unpacked } from "./local.js";
import { LocalGame } from "./localgame.js";
import { logOf, offerText } from "./matchtext.js";
import { save } from "./matchpanels.js";

/** @typedef {import("./cards.js").Deck} Deck */
/** The seed of a match and its cards, packed. @typedef {[number, string]} CardSet */
/** @typedef {{rules: string, lanes: number, sets: CardSet[], pieces: string, note: string,
 *   badges: Record<string, string>, numbers: Record<string, [number, number, number]>,
 *   engine: import("./local.js").Packed}} Carried */
/** @typedef {import("./matchtext.js").Table} Table */

const DECK = 30;
const BEGIN_LEVEL = 4;
const DRAFT_SEEDS = 2 ** 32;
class PlayPage {
  /** @param {HTMLElement} host @param {Carried} data */
  constructor(host, data) {
    this.host = host;
    this.data = data;
    this.local = new Local(data.engine);
    this.notice = element("p", { id: "notice", class: "notice", role: "alert", hidden: true });
    host.before(this.notice);
    this.menu();
  }

  get drafts() {
    return this.data.rules !== "1.5";
  }

  /** @param {string} [text] */
  tell(text = "") {
    this.notice.textContent = text;
    this.notice.hidden = !text;
  }

  /** The start: against whom, in which seat. */
  menu() {
    this.local.turnTo({ choices: [], taken: [] });
    const levels = /** @type {[string, string][]} */ (
      this.data.engine.levels.map((_, i) => [String(i + 1), `level ${i + 1}`])
    );
    const seats = /** @type {[string, string][]} */ ([
      ["", "either"],
      ["0", "first"],
      ["1", "second"],
    ]);
    const form = element(
      "div",
      { class: "bar" },
      select("level", "Play against", levels, String(BEGIN_LEVEL)),
      select("seat", "moving", seats),
      element("button", { id: "begin", class: "main", text: "Play", onclick: () => this.begin() }),
    );
    const title = `Legends of Code and Magic ${this.data.rules}`;
    const about = element("p", { class: "small dim", text: this.data.note });
    this.host.replaceChildren(
      element("div", { class: "panel", id: "menu" }, element("h1", { text: title }), form, about),
    );
  }

  /** Run something, and show what goes wrong. @param {() => Promise<void>} work */
  async doing(work) {
    try {
      this.tell();
      await work();
    } catch (error) {
      this.tell(error instanceof Error ? error.message : String(error));
    }
  }

  begin() {
    const seat = valueOf("seat") === "" ? Math.floor(2 * Math.random()) : Number(valueOf("seat"));
    const level = Number(valueOf("level"));
    this.doing(async () => {
      const [setSeed, packed] = this.data.sets[Math.floor(Math.random() * this.data.sets.length)];
      const cards = await this.cards(packed);
      const { badges, numbers } = this.data;
      const seed = this.drafts ? Math.floor(DRAFT_SEEDS * Math.random()) : setSeed;
      const deck = { cards, badges, numbers };
      const offers = await this.offers(seed, deck);
      const rows = (/** @type {string[]} */ offer) => offer.map((key) => cards[key].row);
      const texts = [0, 1].map((player) =>
        offers.map((offer, step) => offerText(this.data.rules, rows(offer), step, player)),
      );
      const answers = await this.local.ask("answers", { player: 1 - seat, texts: texts[1 - seat] });
      /** @type {Table} */
      const table = { seed, deck, offers, taken: [[], []], seat, level, answers: [[], []], texts };
      table.answers[1 - seat] = answers;
      table.taken[1 - seat] = this.takenBy(answers, table);
      this.choose(table);
    });
  }

  /** The cards of a set, with their pictures. @param {string} packed
   * @returns {Promise<Record<string, import("./cards.js").CardData>>} */
  async cards(packed) {
    const pieces = await (await unpacked(this.data.pieces)).json();
    const cards = await (await unpacked(packed)).json();
    for (const card of Object.values(cards))
      card.svg = card.svg
        .map((/** @type {any} */ one) => (typeof one === "number" ? pieces[one] : one))
        .join("");
    return cards;
  }

  /** What both players are offered, step by step. @param {number} seed @param {Deck} deck */
  async offers(seed, deck) {
    const keys = Object.keys(deck.cards);
    const rowOf = (/** @type {string} */ key) => deck.cards[key].row;
    if (!this.drafts) {
      const byCost = (/** @type {string} */ a, /** @type {string} */ b) =>
        rowOf(a)[2] - rowOf(b)[2] || rowOf(a)[0] - rowOf(b)[0];
      return [keys.sort(byCost)];
    }
    const byId = new Map(keys.map((key) => [rowOf(key)[0], key]));
    /** @type {number[][]} */
    const triplets = await this.local.ask("offers", { seed });
    return triplets.map((ids) => ids.map((id) => byId.get(id) ?? ""));
  }

  /** The cards that answers take. @param {string[]} answers @param {Table} table */
  takenBy(answers, table) {
    if (this.drafts) return answers.map((line, i) => table.offers[i][Number(line.split(" ")[1])]);
    const keys = new Map(table.offers[0].map((key) => [table.deck.cards[key].row[0], key]));
    return answers[0].split(";").map((part) => keys.get(Number(part.split(" ")[1])) ?? "");
  }

  /** Let the person choose their cards. @param {Table} table */
  choose(table) {
    const mine = table.taken[table.seat];
    const step = this.drafts ? mine.length : 0;
    const offer = table.offers[step];
    const chooser = new ChoiceView(
      this.host,
      table.deck,
      painter(table.deck),
      (keys) => {
        this.tell();
        mine.push(...keys);
        const number = (/** @type {string} */ key) => table.deck.cards[key].row[0];
        const line = this.drafts
          ? `PICK ${offer.indexOf(keys[0])}`
          : keys.map((key) => `CHOOSE ${number(key)}`).join(";");
        table.answers[table.seat].push(line);
        if (mine.length < DECK) this.choose(table);
        else this.doing(() => this.battle(table));
      },
      (text) => this.tell(text),
    );
    const leave = element("button", { id: "new", text: "New match", onclick: () => this.menu() });
    const choice = { draft: this.drafts, offer, chosen: [...mine], size: DECK, copies: 2 };
    chooser.show(choice, true, element("div", { class: "bar" }, leave));
  }

  /** Deal the cards, and begin the battle. @param {Table} table */
  async battle(table) {
    const { rules, lanes } = this.data;
    const { seed, deck, seat, level, taken } = table;
    const ids = taken.map((keys) => keys.map((key) => deck.cards[key].row[0]));
    this.local.turnTo({ seed, choices: table.texts, taken: ids });
    // What the level took is not told before the match is over.
    const choice = taken.map((keys, player) => (player === seat ? keys : []));
    const match = {
      ...deck,
      ...{ rules, lanes, names: ["", ""], seat, winner: null, fault: null, choice, offers: [] },
      ...{ params: { seed: String(seed) }, stderr: ["", ""], steps: [] },
    };
    const { board } = await this.local.ask("walk", { path: [], actions: [] });
    const first = new Teller(match).position(board);
    const steps = [{ turn: 0, player: 0, action: null, words: "", board: first }];
    const leave = () => this.menu();
    const over = (/** @type {LocalGame} */ game) => {
      const button = element("button", {
        id: "save-log",
        text: "Log",
        onclick: () => save(logOf(table, rules, game.viewer.data), "match.json"),
      });
      game.result.after(element("div", { class: "bar" }, button));
    };
    const from = { steps, seat, level, back: "New match", leave, over };
    new LocalGame(this.host, match, this.local, from);
  }
}

new PlayPage($("main"), JSON.parse($("data").textContent ?? ""));
