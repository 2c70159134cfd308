// @ts-check
// What became of each card in the matches of a tournament, and how often its player won.

import { everybody, tenths } from "./arenatables.js";
import { button, element, named, number, refill, select, setValue, valueOf } from "./dom.js";
import { JobButton } from "./jobs.js";
import { numberCell, table } from "./matchrows.js";
import { tell } from "./site.js";

/** @typedef {{games: number, won: number, copies: number, share: number|null,
 *   interval: number[]|null}} Case */
/** @typedef {{group: string, name: string, cases: Record<string, Case>}} Row */
/** @typedef {{title: string, value: (row: Row) => number|null, text: (row: Row) => string}} Column */

/** Chosen copies for each card on offer. @param {Row} row */
const taken = ({ cases: { offered, chosen } }) =>
  offered.copies ? chosen.copies / offered.copies : null;

/** The share of matches won in a case. @param {string} title @returns {Column} */
function won(title) {
  /** @param {Row} row */
  const text = (row) => {
    const { games, share, interval } = row.cases[title];
    if (share === null || !interval) return "\u2013";
    return `${tenths(share)} [${interval.map(tenths).join(", ")}] of ${number(games)}`;
  };
  return {
    title,
    value: (row) => row.cases[title].share,
    text,
  };
}

/** The columns behind the name. @type {Column[]} */
const COLUMNS = [
  {
    title: "copies",
    value: (row) => row.cases.offered.copies,
    text: (row) => number(row.cases.offered.copies),
  },
  {
    title: "taken",
    value: taken,
    text: (row) => taken(row)?.toFixed(2) ?? "\u2013",
  },
  ...["offered", "chosen", "in deck", "drawn", "played"].map(won),
];
const NAME = "card";
const TITLES = [NAME, ...COLUMNS.map(({ title }) => title)];

export class CardTable {
  constructor() {
    this.db = -1;
    /** The file whose cards are being counted. */
    this.counting = -1;
    /** @type {Row[]} */
    this.rows = [];
    /** The column that sorts, and whether its lowest value comes first. */
    this.column = NAME;
    this.rising = false;
    this.begin = new JobButton(
      "#cards-start",
      "Count the cards",
      "Count the cards",
      () => this.start(),
      // Another file may have been chosen in the meantime.
      (found) => this.counting === this.db && this.take(found),
    );
    this.counted = element("span#cards-counted", { "aria-live": "polite" });
    const whose = select("cards-player", "Of", everybody([]));
    const chosen = () => this.sort(valueOf("cards-order"), false);
    const order = select("cards-order", "Sorted by", named(TITLES), NAME, chosen);
    const turn = button("#cards-reverse", "Reverse", () => this.sort(this.column, !this.rising));
    this.sorting = element("div.bar", { hidden: true }, order, turn);
    this.root = element(
      "section#card-table",
      { hidden: true },
      element("h2", "Cards"),
      element(
        "p.dim",
        "Percent of matches won in which the player was offered, chose, had in the deck, drew or " +
          "played such a card, with 95 % intervals, and the number of these matches. Taken: chosen " +
          "copies for each card on offer.",
      ),
      element("div.bar", whose, this.begin.button, this.begin.progress, this.counted),
      this.sorting,
      element("div.scroll", element("table#cards.cards")),
    );
  }

  /** Offer the players of a tournament. @param {number} db
   * @param {{cards: boolean, results: {players: {name: string}[]}}} found */
  offer(db, found) {
    this.root.hidden = !found.cards;
    refill("cards-player", everybody(found.results.players));
    if (db === this.db) return;
    this.db = db;
    setValue("cards-player", -1);
    this.rows = [];
    this.counted.textContent = "";
    this.draw();
  }

  start() {
    this.counting = this.db;
    this.counted.textContent = "";
    return tell("/api/arena/cards", { db: this.db, player: Number(valueOf("cards-player")) });
  }

  /** @param {{rows: Row[], games: number}|null} found */
  take(found) {
    if (!found) return true;
    this.rows = found.rows;
    this.counted.textContent = `${number(found.games)} matches`;
    this.draw();
    return true;
  }

  /** Sort by a column; the name is in the order of the cards. @param {string} title
   * @param {boolean} rising */
  sort(title, rising) {
    this.column = title;
    this.rising = rising;
    setValue("cards-order", title);
    this.draw();
  }

  /** @returns {Row[]} */
  sorted() {
    const column = COLUMNS.find(({ title }) => title === this.column);
    if (!column) return this.rising ? [...this.rows].reverse() : this.rows;
    const sign = this.rising ? 1 : -1;
    return [...this.rows].sort((a, b) => {
      const [x, y] = [column.value(a), column.value(b)];
      // What has no value comes last.
      return x === null || y === null ? Number(x === null) - Number(y === null) : sign * (x - y);
    });
  }

  draw() {
    this.sorting.hidden = !this.rows.length;
    const rows = this.sorted().map((row) =>
      element(
        "tr",
        element("th", { scope: "row" }, element("bdi", row.name)),
        ...COLUMNS.map(({ text }) => numberCell(text(row))),
      ),
    );
    table("cards", rows.length ? TITLES : [], rows, (title, properties) => {
      const sorts = title === this.column;
      const rising = title === NAME ? !this.rising : this.rising;
      const sort = sorts ? (rising ? "ascending" : "descending") : "none";
      const pick = button(".sort", title, () => this.sort(title, sorts && !this.rising));
      return element("th", { ...properties, "aria-sort": sort }, pick);
    });
  }
}
