// @ts-check
// The games of a tournament, in parts.

import { everybody, table } from "./arenatables.js";
import { $, element, number as digits, refill, select, valueOf } from "./dom.js";
import { faultCell, linksCell, playersCell, showPart } from "./matches.js";
import { ask, shown } from "./site.js";

/** @typedef {import("./arenatables.js").Results} Results */
/** @typedef {{key: string, number: number, players: number[], winner: number|null,
 *   turns: number, fault: null|[number, string]}} Ending */

const ROWS = 20;

export class ArenaGames {
  constructor() {
    /** @type {Results|null} */
    this.results = null;
    /** Where this part of the games begins, and the ones before it. @type {(number|"")[]} */
    this.places = [""];
    /** Where the next one does. @type {number|null} */
    this.following = null;
    /** @param {string} id @param {string} text @param {() => void} onclick */
    const button = (id, text, onclick) => element("button", { id, type: "button", text, onclick });
    this.filters = element(
      "div",
      { class: "bar" },
      select("who", "Of", everybody([])),
      select("against", "against", everybody([])),
      select("ended", "Games", [
        ["", "all"],
        ["lost", "lost by the first one"],
      ]),
    );
    this.filters.addEventListener("change", () => this.page([""]));
    this.root = element(
      "section",
      {},
      element("h2", { text: "Games" }),
      this.filters,
      element("div", { class: "scroll" }, element("table", { id: "games", class: "cards" })),
      element(
        "p",
        { class: "bar" },
        button("before", "Previous", () =>
          this.page(this.places.length > 1 ? this.places.slice(0, -1) : this.places),
        ),
        element("span", { id: "count" }),
        button("after", "Next", () => {
          if (this.following !== null) this.page([...this.places, this.following]);
        }),
      ),
    );
  }

  /** Begin with another tournament. */
  clear() {
    this.results = null;
    this.places = [""];
  }

  /** Choose a player, and whom they played. @param {number} player @param {number} other */
  pick(player, other) {
    /** @type {HTMLSelectElement} */ ($("who")).value = String(player);
    /** @type {HTMLSelectElement} */ ($("against")).value = String(other);
    this.places = [""];
  }

  /** Show what is new. @param {Results} results */
  async show(results) {
    this.results = results;
    for (const id of ["who", "against"]) refill(id, everybody(results.results.players));
    await this.list();
  }

  /** Show another part of the list. @param {(number|"")[]} from */
  page(from) {
    this.places = from;
    shown(() => this.list());
  }

  /** What is asked for. */
  query() {
    return {
      db: valueOf("db"),
      player: valueOf("who"),
      other: valueOf("against"),
      lost: valueOf("ended") === "lost" && valueOf("who") !== "-1" ? 1 : 0,
      before: this.places[this.places.length - 1],
      count: ROWS,
    };
  }

  async list() {
    if (!this.results) return;
    const query = this.query();
    /** @type {{games: Ending[], next: number|null}} */
    const found = await ask("/api/arena/games", query);
    // Something else may have been chosen in the meantime.
    if (!this.results || JSON.stringify(query) !== JSON.stringify(this.query())) return;
    this.following = found.next;
    const { watched, turn } = this.results;
    const rows = found.games.map((game) => this.row(game));
    table("games", ["game", "players", `${turn}s`, "fault", ...(watched ? ["open"] : [])], rows);
    showPart(ROWS * (this.places.length - 1), rows.length, this.following !== null);
  }

  /** @param {Ending} game */
  row(game) {
    const players = this.results?.results.players ?? [];
    const names = game.players.map((index) => players[index]?.name ?? "?");
    const { fault } = game;
    return element(
      "tr",
      { "data-key": game.key },
      element("td", { class: "number", text: digits(game.number) }),
      playersCell(names, game.winner),
      element("td", { class: "number", text: digits(game.turns) }),
      faultCell(fault && { name: names[fault[0]] ?? "?", kind: fault[1] }),
      ...(this.results?.watched ? [linksCell(game.key)] : []),
    );
  }
}
