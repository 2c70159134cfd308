// @ts-check
// The form of a new tournament.

import { $, attempt, element, labelled, optionsOf, refill, select, valueOf } from "./dom.js";
import { fieldOf, form, opponentsBy, valuesOf } from "./form.js";
import { address, ask, tell } from "./site.js";

/** Put the form at the end of the page. */
export async function newArena() {
  const { opponents } = await ask("/api/play/choices");
  const { fields } = await ask("/api/arena/form");
  const players = /** @type {HTMLSelectElement} */ (
    element("select#new-players", { multiple: true, size: 5 })
  );
  const first = select("new-first", "First player", []);
  const chosen = () => [...players.selectedOptions];
  const offerFirst = () => {
    refill(
      "new-first",
      chosen().map(({ value, text }) => [value, text]),
    );
    first.hidden = valueOf("new-mode") !== "gauntlet";
  };
  const offer = () => {
    players.replaceChildren(...optionsOf(opponentsBy(opponents, valueOf("new-rules"))));
    offerFirst();
  };
  const [rules, mode, ...others] = fields.map((/** @type {import("./form.js").Field} */ one) =>
    fieldOf(one, "new-"),
  );
  rules.addEventListener("change", offer);
  const start = () =>
    attempt(async () => {
      const leader = valueOf("new-first");
      const keys = chosen().map(({ value }) => value);
      // In a gauntlet the first one plays against each of the others.
      if (valueOf("new-mode") === "gauntlet")
        keys.sort((a, b) => Number(b === leader) - Number(a === leader));
      const { db } = await tell("/api/arena/start", {
        players: keys,
        ...valuesOf(fields, "new-"),
      });
      location.href = address("/arena", { db });
    });
  $("main").append(
    element(
      "details#new-arena.panel",
      element("summary", "A new arena"),
      form(
        ".bar",
        start,
        { onchange: offerFirst },
        rules,
        labelled("Players, two or more", players),
        mode,
        first,
        ...others,
        element("button#new-start.main", "Start"),
      ),
      element("p.dim.small", "To choose several players, hold Ctrl (\u2318 on a Mac) and click."),
    ),
  );
  offer();
}
