// @ts-check
// The one-file page in which a person plays whole matches against a level of the engine: who plays,
// the choice of cards, the battle, and the log.

import { ChoiceView, takenBy } from "./choice.js";
import { $, attempt, button, element, keep, kept, notice, onKeys, select, valueOf } from "./dom.js";
import { namesOf, playLocal } from "./filematch.js";
import { unpacked } from "./packed.js";
import { showHelp } from "./help.js";
import { Local, Teller } from "./local.js";
import { begunFrom, offerText } from "./matchtext.js";

/** @typedef {import("./cards.js").Deck} Deck */
/** The seed of a match and its cards, packed. @typedef {[number, string]} CardSet */
/** A match without steps, cards and names, and what any match needs.
 * @typedef {import("./viewer.js").Match & {size: number, copies: number, sets: CardSet[], pieces: string, note: string,
 *   engine: import("./local.js").Packed}} Carried */
/** @typedef {import("./matchtext.js").Table} Table */

const BEGIN_LEVEL = 4;
const DRAFT_SEEDS = 2 ** 32;

/** Where the browser keeps the match. */
const PLACE = "locmsim.match";
const NO_BATTLE = { choices: [], taken: [] };

class PlayPage {
  /** @param {HTMLElement} host @param {Carried} data */
  constructor(host, data) {
    this.host = host;
    this.data = data;
    this.local = new Local(data.engine);
    this.local.turnTo(NO_BATTLE);
    onKeys(() => ({ "?": () => showHelp(data.badges) }));
    attempt(() => this.restore());
  }

  /** Keep a match for when the page is loaded again. @param {Table} table
   * @param {string[]} [path] its battle */
  keep({ seed, seat, level, answers, taken }, path) {
    const { rules } = this.data;
    keep("sessionStorage", PLACE, { rules, seed, seat, level, answers, taken, path });
  }

  /** Go on with the match that was kept, or begin one. */
  async restore() {
    const match = kept("sessionStorage", PLACE);
    if (match?.rules !== this.data.rules || !this.packed(match.seed)) return this.menu();
    const table = { ...match, ...(await this.table(match.seed)) };
    if (match.path) await this.battle(table, match.path);
    else this.choose(table);
  }

  /** The cards of a match, packed. @param {string} seed */
  packed(seed) {
    const { sets } = this.data;
    return (this.drafts ? sets[0] : sets.find(([one]) => String(one) === seed))?.[1];
  }

  /** A button that shows the help. */
  help() {
    const { badges } = this.data;
    return button("#help", "?", () => showHelp(badges), {
      title: "Help (?)",
      "aria-label": "Help",
    });
  }

  get drafts() {
    return this.data.rules !== "1.5";
  }

  /** The start: against whom, in which seat. */
  menu() {
    this.local.turnTo(NO_BATTLE);
    keep("sessionStorage", PLACE, null);
    const seats = /** @type {[string, string][]} */ ([
      ["", "either"],
      ["0", "first"],
      ["1", "second"],
    ]);
    const form = element(
      "div.bar",
      select("level", "Play against", this.local.levels, String(BEGIN_LEVEL)),
      select("seat", "moving", seats),
      button("#begin.main", "Play", () => this.begin()),
      this.help(),
    );
    const title = `Legends of Code and Magic ${this.data.rules}`;
    const about = element("p.small.dim", this.data.note);
    this.host.replaceChildren(element("div#menu.panel", element("h1", title), form, about));
  }

  begin() {
    const seat = valueOf("seat") === "" ? Math.floor(2 * Math.random()) : Number(valueOf("seat"));
    const level = Number(valueOf("level"));
    notice();
    attempt(async () => {
      const [setSeed] = this.data.sets[Math.floor(Math.random() * this.data.sets.length)];
      const seed = String(this.drafts ? Math.floor(DRAFT_SEEDS * Math.random()) : setSeed);
      const { deck, offers, texts } = await this.table(seed);
      const answers = await this.local.ask("answers", { player: 1 - seat, texts: texts[1 - seat] });
      /** @type {Table} */
      const table = { seed, deck, offers, taken: [[], []], seat, level, answers: [[], []], texts };
      table.answers[1 - seat] = answers;
      table.taken[1 - seat] = answers.flatMap(
        (/** @type {string} */ line, /** @type {number} */ i) => takenBy(line, offers[i], deck),
      );
      this.choose(table);
    });
  }

  /** What both players are offered in a match, and the texts of it. @param {string} seed */
  async table(seed) {
    const { badges, numbers, rules } = this.data;
    const deck = { cards: await this.cards(this.packed(seed) ?? ""), badges, numbers };
    const offers = await this.offers(seed, deck);
    const rows = (/** @type {string[]} */ offer) => offer.map((key) => deck.cards[key].row);
    const texts = [0, 1].map((player) =>
      offers.map((offer, step) => offerText(rules, rows(offer), step, player)),
    );
    return { deck, offers, texts };
  }

  /** The cards of a set, with their pictures. @param {string} packed
   * @returns {Promise<Record<string, import("./cards.js").CardData>>} */
  async cards(packed) {
    const pieces = await unpacked(this.data.pieces).json();
    const cards = await unpacked(packed).json();
    for (const card of Object.values(cards))
      card.svg = card.svg
        .map((/** @type {any} */ one) => (typeof one === "number" ? pieces[one] : one))
        .join("");
    return cards;
  }

  /** What both players are offered, step by step. @param {string} seed @param {Deck} deck */
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

  /** Let the person choose their cards. @param {Table} table */
  choose(table) {
    const { size, copies } = this.data;
    const mine = table.taken[table.seat];
    const step = this.drafts ? mine.length : 0;
    const offer = table.offers[step];
    this.keep(table);
    const { seat: player, seed } = table;
    const asked = { player, texts: table.texts[player] };
    // In a draft its answers are those after picks of its own.
    const hint = async () => (await this.local.ask("answers", asked))[0];
    const chooser = new ChoiceView(this.host, table.deck, {
      choose: (keys) => {
        notice();
        mine.push(...keys);
        const number = (/** @type {string} */ key) => table.deck.cards[key].row[0];
        const line = this.drafts
          ? `PICK ${offer.indexOf(keys[0])}`
          : keys.map((key) => `CHOOSE ${number(key)}`).join(";");
        table.answers[table.seat].push(line);
        if (mine.length < size) this.choose(table);
        else attempt(() => this.battle(table));
      },
      hint: this.drafts ? undefined : hint,
      tell: notice,
      place: seed,
    });
    const leave = button("#new", "New match", () => this.menu());
    const choice = { draft: this.drafts, offer, chosen: [...mine], size, copies };
    chooser.show(choice, element("div.bar", leave, this.help()));
  }

  /** Deal the cards, and begin the battle. @param {Table} table
   * @param {string[]} [actions] what was played of it */
  async battle(table, actions = []) {
    const { rules } = this.data;
    const { seed, deck, seat, level, taken } = table;
    const ids = taken.map((keys) => keys.map((key) => deck.cards[key].row[0]));
    this.local.turnTo({ seed, choices: table.texts, taken: ids });
    // What the level took is not told before the match is over.
    const choice = taken.map((keys, player) => (player === seat ? keys : []));
    const names = namesOf(seat, level);
    const match = { ...this.data, ...deck, names, seat, choice, params: { seed } };
    const found = await this.local.ask("walk", { path: [], actions });
    const teller = new Teller(match);
    const board = teller.position(found.board);
    const steps = teller.steps(actions.slice(0, found.boards.length), board, found);
    match.steps = [{ turn: 0, player: 0, action: null, words: "", board }, ...steps];
    const leave = () => this.menu();
    const begun = async () => begunFrom(seed, rules, table.answers);
    const told = (/** @type {string[]} */ path) => this.keep(table, path);
    const from = { seat, level, back: "New match", leave, begun, start: 0, told };
    playLocal(this.host, match, this.local, from);
  }
}

new PlayPage($("main"), JSON.parse($("data").textContent ?? ""));
