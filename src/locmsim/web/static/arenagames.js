// @ts-check
// The games of a tournament, in parts.

import { everybody } from "./arenatables.js";
import { $, element, number as digits, refill, select, valueOf } from "./dom.js";
import { MatchList, faultCell, linksCell, playersCell } from "./matches.js";
import { ask } from "./site.js";

/** @typedef {import("./arenatables.js").Results} Results */
/** @typedef {{key: string, number: number, players: number[], winner: number|null,
 *   turns: number, fault: null|[number, string]}} Ending */

const ROWS = 20;

export class ArenaGames {
  constructor() {
    /** @type {Results|null} */
    this.results = null;
    const filters = element(
      "div.bar",
      select("who", "Of", everybody([])),
      select("against", "against", everybody([])),
      select("ended", "Games", [
        ["", "all"],
        ["lost", "lost by the first one"],
      ]),
    );
    this.list = new MatchList("games", ROWS, (place) => this.part(place));
    filters.addEventListener("change", () => this.list.show());
    this.root = element("section", element("h2", "Games"), filters, this.list.root);
  }

  /** Begin with another tournament. */
  clear() {
    this.results = null;
    this.list.forget();
  }

  /** Choose a player, and whom they played. @param {number} player @param {number} other */
  pick(player, other) {
    /** @type {HTMLSelectElement} */ ($("who")).value = String(player);
    /** @type {HTMLSelectElement} */ ($("against")).value = String(other);
    this.list.forget();
  }

  /** Show what is new. @param {Results} results */
  async show(results) {
    this.results = results;
    for (const id of ["who", "against"]) refill(id, everybody(results.results.players));
    await this.list.list();
  }

  /** @param {string|number} before */
  async part(before) {
    if (!this.results) return null;
    const { watched, turn } = this.results;
    /** @type {{games: Ending[], next: number|null}} */
    const { games, next } = await ask("/api/arena/games", {
      db: valueOf("db"),
      player: valueOf("who"),
      other: valueOf("against"),
      lost: valueOf("ended") === "lost" && valueOf("who") !== "-1" ? 1 : 0,
      before,
      count: ROWS,
    });
    const titles = ["game", "players", `${turn}s`, "fault", ...(watched ? ["open"] : [])];
    return { titles, rows: games.map((game) => this.row(game)), next };
  }

  /** @param {Ending} game */
  row(game) {
    const players = this.results?.results.players ?? [];
    const names = game.players.map((index) => players[index]?.name ?? "?");
    const { fault } = game;
    return element(
      "tr",
      { "data-key": game.key },
      element("td.number", digits(game.number)),
      playersCell(names, game.winner),
      element("td.number", digits(game.turns)),
      faultCell(fault && { name: names[fault[0]] ?? "?", kind: fault[1] }),
      ...(this.results?.watched ? [linksCell(game.key)] : []),
    );
  }
}
