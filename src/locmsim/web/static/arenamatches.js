// @ts-check
// The matches of a tournament, in parts.

import { everybody } from "./arenatables.js";
import { element, number as digits, refill, select, setValue, valueOf } from "./dom.js";
import { MatchList, matchRow, numberCell } from "./matchrows.js";
import { ask } from "./site.js";

/** @typedef {import("./arenatables.js").Results} Results */

const ROWS = 20;

export class ArenaMatches {
  constructor() {
    /** @type {Results|null} */
    this.results = null;
    const filters = element(
      "div.bar",
      select("who", "Of", everybody([])),
      select("against", "against", everybody([])),
      select("ended", "Matches", [
        ["", "all"],
        ["lost", "lost by the first one"],
      ]),
    );
    this.list = new MatchList("matches", ROWS, (place) => this.part(place));
    filters.addEventListener("change", () => this.list.show());
    this.root = element("section", element("h2", "Matches"), filters, this.list.root);
  }

  /** Begin with another tournament. */
  clear() {
    this.results = null;
    this.list.forget();
  }

  /** Choose a player, and whom they played. @param {number} player @param {number} other */
  pick(player, other) {
    setValue("who", player);
    setValue("against", other);
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
    const { matches, next } = await ask("/api/matches", { ...query, lost_by, count: ROWS });
    const titles = ["match", "players", `${turn}s`, "fault", ...(watched ? ["open"] : [])];
    const rows = matches.map((/** @type {import("./matchrows.js").ListedMatch} */ match) =>
      matchRow(match, numberCell(digits(Number(match.number))), [], watched ? undefined : null),
    );
    return { titles, rows, next };
  }
}
