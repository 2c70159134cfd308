// @ts-check
// What became of each card in the matches of a tournament, and how often its player won.

import { everybody, tenths } from "./arenatables.js";
import { button, element, named, number, refill, select } from "./dom.js";
import { JobButton } from "./jobs.js";
import { tell } from "./site.js";

/** @typedef {{games: number, won: number, copies: number, share: number|null,
 *   interval: number[]|null}} Case */
/** @typedef {{group: string, name: string, cases: Record<string, Case>}} Row */
/** @typedef {{title: string, value: (row: Row) => number|null, cell: (row: Row) => HTMLElement}} Column */

/** @param {string} title @param {string} text */
const numbers = (title, text) => element("td.number", { "data-name": title }, text);

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
    cell: (row) => numbers(title, text(row)),
  };
}

/** The columns behind the name. @type {Column[]} */
const COLUMNS = [
  {
    title: "copies",
    value: (row) => row.cases.offered.copies,
    cell: (row) => numbers("copies", number(row.cases.offered.copies)),
  },
  {
    title: "taken",
    value: taken,
    cell: (row) => {
      const share = taken(row);
      return numbers("taken", share === null ? "\u2013" : share.toFixed(2));
    },
  },
  ...["offered", "chosen", "in deck", "drawn", "played"].map(won),
];
const NAME = "card";

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
    this.player = /** @type {HTMLSelectElement} */ (whose.querySelector("select"));
    const order = select(
      "cards-order",
      "Sorted by",
      named([NAME, ...COLUMNS.map(({ title }) => title)]),
    );
    this.order = /** @type {HTMLSelectElement} */ (order.querySelector("select"));
    this.order.addEventListener("change", () => this.sort(this.order.value, false));
    const turn = button("#cards-reverse", "Reverse", () => this.sort(this.column, !this.rising));
    this.sorting = element("div.bar", { hidden: true }, order, turn);
    this.table = element("table#cards.cards");
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
      element("div.scroll", this.table),
    );
  }

  /** Offer the players of a tournament. @param {number} db
   * @param {{cards: boolean, results: {players: {name: string}[]}}} found */
  offer(db, found) {
    this.root.hidden = !found.cards;
    refill(this.player.id, everybody(found.results.players));
    if (db === this.db) return;
    this.db = db;
    this.player.value = "-1";
    this.rows = [];
    this.counted.textContent = "";
    this.draw();
  }

  start() {
    this.counting = this.db;
    this.counted.textContent = "";
    return tell("/api/arena/cards", { db: this.db, player: Number(this.player.value) });
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
    this.order.value = title;
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
    if (!this.rows.length) {
      this.table.replaceChildren();
      return;
    }
    /** @param {string} title */
    const head = (title) => {
      const sorts = title === this.column;
      const rising = title === NAME ? !this.rising : this.rising;
      return element(
        "th",
        {
          scope: "col",
          class: title === NAME ? null : "number",
          "aria-sort": sorts ? (rising ? "ascending" : "descending") : "none",
        },
        button(".sort", title, () => this.sort(title, sorts && !this.rising)),
      );
    };
    this.table.replaceChildren(
      element("thead", element("tr", ...[NAME, ...COLUMNS.map(({ title }) => title)].map(head))),
      element(
        "tbody",
        ...this.sorted().map((row) =>
          element(
            "tr",
            element("th", { scope: "row" }, element("bdi", row.name)),
            ...COLUMNS.map(({ cell }) => cell(row)),
          ),
        ),
      ),
    );
  }
}
