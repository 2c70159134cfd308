// @ts-check
// The games of a tournament, in parts.

import { everybody } from "./arenatables.js";
import { $, element, number as digits, refill, select, valueOf } from "./dom.js";
import { MatchList, matchRow } from "./matchrows.js";
import { ask } from "./site.js";

/** @typedef {import("./arenatables.js").Results} Results */

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

  /** @param {string|number} after */
  async part(after) {
    if (!this.results) return null;
    const { watched, turn, results } = this.results;
    const nameOf = (/** @type {string} */ id) => results.players[Number(valueOf(id))]?.name ?? "";
    const player = nameOf("who");
    const query = { source: `d${valueOf("db")}`, player, other: nameOf("against"), after };
    const lost_by = valueOf("ended") === "lost" ? player : "";
    const { games, next } = await ask("/api/games", { ...query, lost_by, count: ROWS });
    const titles = ["game", "players", `${turn}s`, "fault", ...(watched ? ["open"] : [])];
    const rows = games.map((/** @type {import("./matchrows.js").Game} */ game) =>
      matchRow(
        game,
        element("td.number", digits(Number(game.number))),
        [],
        watched ? undefined : null,
      ),
    );
    return { titles, rows, next };
  }
}
