// @ts-check
// The one-file page in which a person plays whole matches against a level of the engine: who plays,
// the choice of cards, the battle, and the log.

import { painter } from "./cards.js";
import { ChoiceView } from "./choice.js";
import { $, button, element, labelled, select, valueOf } from "./dom.js";
import { FilePage } from "./filepage.js";
import { save, unpacked } from "./files.js";
import { Local, pathTo, Teller } from "./local.js";
import { LocalGame } from "./localgame.js";
import { begunFrom, offerText, readLog } from "./matchtext.js";
import { bytesOf, textOf } from "./positiontext.js";

/** @typedef {import("./cards.js").Deck} Deck */
/** The seed of a match and its cards, packed. @typedef {[number, string]} CardSet */
/** @typedef {{rules: string, lanes: number, size: number, copies: number, seeds: string[], sets: CardSet[], pieces: string, note: string,
 *   bounds: import("./positiontext.js").Bounds, badges: Record<string, string>, numbers: Record<string, [number, number, number]>,
 *   engine: import("./local.js").Packed}} Carried */
/** @typedef {import("./matchtext.js").Table} Table */

const BEGIN_LEVEL = 4;
const DRAFT_SEEDS = 2 ** 32;

const NO_BATTLE = { choices: [], taken: [] };
const ANOTHER_END = "The match of this log comes to another end here: it is not of these rules.";

class PlayPage {
  /** @param {HTMLElement} host @param {Carried} data */
  constructor(host, data) {
    this.host = host;
    this.data = data;
    this.local = new Local(data.engine);
    this.notice = element("p#notice.notice", { role: "alert", hidden: true });
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
    this.local.turnTo(NO_BATTLE);
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
    );
    const file = /** @type {HTMLInputElement} */ (
      element("input#open", { type: "file", onchange: () => this.openFile(file.files?.[0]) })
    );
    const hint = "Or open a log, or a position of one line.";
    const title = `Legends of Code and Magic ${this.data.rules}`;
    const about = element("p.small.dim", this.data.note);
    this.host.replaceChildren(element("div#menu.panel", element("h1", title), form, about));
    about.before(element("p", hint), element("div.bar", labelled("Open", file)));
  }

  /** Open a log or a position. @param {File|undefined} file */
  openFile(file) {
    if (!file) return;
    this.doing(async () => {
      const text = (await file.text()).trim();
      try {
        await (text.startsWith("{") ? this.openLog(text) : this.openPosition(text));
      } catch (error) {
        this.local.turnTo(NO_BATTLE);
        throw error;
      }
    });
  }

  /** Show the match of a log. @param {string} text */
  async openLog(text) {
    const { rules, seeds, sets } = this.data;
    const { seed, names, answers, winner, fault } = readLog(text, rules, seeds);
    const set = this.drafts ? sets[0] : sets.find(([one]) => String(one) === seed);
    if (!set) {
      const why = `This file does not have the cards of the match with seed ${seed}`;
      throw new Error(`${why}: a page of this log is made by locmsim replay.`);
    }
    const { deck, offers, texts } = await this.table(seed, set[1]);
    const choices = answers.map((lines) => lines.splice(0, offers.length));
    const taken = choices.map((lines) => this.takenBy(lines, { deck, offers }));
    if (
      taken.some((keys) => keys.length !== this.data.size || keys.some((key) => !deck.cards[key]))
    )
      throw new Error("The choice of cards in this log cannot be followed.");
    const ids = taken.map((keys) => keys.map((key) => deck.cards[key].row[0]));
    const length = 2 * Math.max(answers[0].length, answers[1].length);
    const lines = Array.from({ length }, (_, turn) => answers[turn & 1][turn >> 1]);
    const end = lines.indexOf(/** @type {any} */ (undefined));
    this.local.turnTo({ seed, choices: texts, taken: ids });
    const first = (await this.local.ask("walk", { path: [], actions: [] })).board;
    if (end >= 0) lines.length = end;
    // Of an answer that was a fault nothing was carried out.
    if (fault && ((lines.length - 1) & 1) === fault.player) lines.pop();
    const { actions, boards } = await this.local.ask("follow", { lines });
    const won = (boards[boards.length - 1] ?? first).winner;
    if (won !== (fault ? null : winner)) throw new Error(ANOTHER_END);
    const match = { ...this.match(deck, names), winner, fault, choice: taken, offers };
    match.params = { seed };
    this.showMatch(match, first, actions, boards, async () => begunFrom(seed, rules, choices));
  }

  /** Show a position of one line. @param {string} text */
  async openPosition(text) {
    const { rules, bounds } = this.data;
    const { bytes, cards } = bytesOf(text, rules, await this.fixedCards(), bounds);
    const start = btoa(String.fromCharCode(...bytes));
    this.local.turnTo({ start, choices: [], taken: [] });
    const { board } = await this.local.ask("walk", { path: [], actions: [] });
    if (board.winner !== null) throw new Error("The game is decided in this position.");
    const deck = await this.deckOf(cards);
    const names = ["The opponent", "The opponent"];
    names[board.player] = "The player to move";
    this.showMatch(this.match(deck, names), board, [], []);
  }

  /** The cards that every match of these rules has, by base id. */
  async fixedCards() {
    const cards = this.drafts ? Object.values(await this.cards(this.data.sets[0][1])) : [];
    return new Map(cards.map(({ row }) => [row[0], row]));
  }

  /** The cards with these rows: those of a set that has them all, or else without pictures.
   * @param {any[][]} rows @returns {Promise<Deck>} */
  async deckOf(rows) {
    const { badges, numbers, sets } = this.data;
    const wanted = new Set(rows.map(String));
    for (const [, packed] of sets) {
      const cards = await this.cards(packed);
      const known = new Set(Object.values(cards).map(({ row }) => String(row)));
      if ([...wanted].every((row) => known.has(row))) return { cards, badges, numbers };
    }
    const plain = rows.map((row) => {
      const title = `card ${row[0]}`;
      return [String(row[0]), { row, title, about: title }];
    });
    return { cards: Object.fromEntries(plain), badges, numbers };
  }

  /** A match without steps. @param {Deck} deck @param {string[]} names
   * @returns {import("./viewer.js").Match} */
  match(deck, names) {
    const { rules, lanes } = this.data;
    return {
      ...deck,
      ...{ rules, lanes, names, seat: null, winner: null, fault: null, choice: [[], []] },
      ...{ offers: [], params: {}, stderr: ["", ""], steps: [] },
    };
  }

  /** Show a match from its first position on. @param {import("./viewer.js").Match} match
   * @param {any} board @param {string[]} actions @param {any[]} boards
   * @param {() => Promise<import("./matchtext.js").Begun>} [begun] what its log begins with */
  showMatch(match, board, actions, boards, begun) {
    const teller = new Teller(match);
    const first = teller.position(board);
    const { turn } = first;
    match.steps = [
      { turn, player: turn & 1, action: null, words: "", board: first },
      ...teller.steps(actions, first, boards),
    ];
    history.replaceState(null, "", "#");
    new FilePage(this.host, match, this.local, begun, (viewer) => {
      const leave = button("#new", "New match", () => this.menu());
      viewer.tools.append(element("div.bar", leave, this.saver(viewer)));
    });
  }

  /** A button that saves the position that is shown.
   * @param {import("./viewer.js").Viewer} viewer */
  saver(viewer) {
    const onclick = () =>
      this.doing(async () => {
        const beside = viewer.line ? viewer.line.steps.slice(0, viewer.line.at + 1) : [];
        const path = pathTo([...viewer.steps.slice(0, viewer.at + 1), ...beside]);
        const bytes = await this.local.ask("position", { path });
        save(`${textOf(bytes, await this.fixedCards())}\n`, "position.txt");
      });
    return button("#save-position", "Save the position", onclick);
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
      const seed = String(this.drafts ? Math.floor(DRAFT_SEEDS * Math.random()) : setSeed);
      const { deck, offers, texts } = await this.table(seed, packed);
      const answers = await this.local.ask("answers", { player: 1 - seat, texts: texts[1 - seat] });
      /** @type {Table} */
      const table = { seed, deck, offers, taken: [[], []], seat, level, answers: [[], []], texts };
      table.answers[1 - seat] = answers;
      table.taken[1 - seat] = this.takenBy(answers, table);
      this.choose(table);
    });
  }

  /** What both players are offered in a match, and the texts of it. @param {string} seed
   * @param {string} packed its cards */
  async table(seed, packed) {
    const { badges, numbers, rules } = this.data;
    const deck = { cards: await this.cards(packed), badges, numbers };
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

  /** The cards that answers take. @param {string[]} answers
   * @param {{offers: string[][], deck: Deck}} table */
  takenBy(answers, { offers, deck }) {
    const numberIn = (/** @type {string} */ part) => Number(part.trim().split(/\s+/)[1]);
    if (this.drafts) return answers.map((line, i) => offers[i][numberIn(line)] ?? "");
    const keys = new Map(offers[0].map((key) => [deck.cards[key].row[0], key]));
    return (answers[0] ?? "").split(";").map((part) => keys.get(numberIn(part)) ?? "");
  }

  /** Let the person choose their cards. @param {Table} table */
  choose(table) {
    const { size, copies } = this.data;
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
        if (mine.length < size) this.choose(table);
        else this.doing(() => this.battle(table));
      },
      (text) => this.tell(text),
    );
    const leave = button("#new", "New match", () => this.menu());
    const choice = { draft: this.drafts, offer, chosen: [...mine], size, copies };
    chooser.show(choice, true, element("div.bar", leave));
  }

  /** Deal the cards, and begin the battle. @param {Table} table */
  async battle(table) {
    const { rules } = this.data;
    const { seed, deck, seat, level, taken } = table;
    const ids = taken.map((keys) => keys.map((key) => deck.cards[key].row[0]));
    this.local.turnTo({ seed, choices: table.texts, taken: ids });
    // What the level took is not told before the match is over.
    const choice = taken.map((keys, player) => (player === seat ? keys : []));
    const match = { ...this.match(deck, ["", ""]), seat, choice, params: { seed } };
    const { board } = await this.local.ask("walk", { path: [], actions: [] });
    const first = new Teller(match).position(board);
    const steps = [{ turn: 0, player: 0, action: null, words: "", board: first }];
    const leave = () => this.menu();
    const begun = async () => begunFrom(seed, rules, table.answers);
    const from = { steps, seat, level, back: "New match", leave, begun };
    const { viewer } = new LocalGame(this.host, match, this.local, from);
    // Both hands are in it, as in a file of this page.
    const about = /** @type {HTMLElement} */ (viewer.panels.box.querySelector("#about"));
    about.prepend(element("div.bar", this.saver(viewer)));
  }
}

new PlayPage($("main"), JSON.parse($("data").textContent ?? ""));
