// @ts-check
// The form of a new tournament.

import { $, element, labelled, optionsOf, valueOf } from "./dom.js";
import { fieldOf, form, opponentsBy, valuesOf } from "./form.js";
import { address, ask, shown, tell } from "./site.js";

/** Put the form at the end of the page. */
export async function newArena() {
  const { opponents } = await ask("/api/play/choices");
  const { fields } = await ask("/api/arena/form");
  const players = element("select#new-players", { multiple: true, size: 5 });
  const offer = () =>
    players.replaceChildren(...optionsOf(opponentsBy(opponents, valueOf("new-rules"))));
  const [rules, ...others] = fields.map((/** @type {import("./form.js").Field} */ one) =>
    fieldOf(one, "new-"),
  );
  rules.addEventListener("change", offer);
  $("main").append(
    element(
      "details#new-arena.panel",
      element("summary", "A new arena"),
      form(
        ".bar",
        () =>
          shown(async () => {
            const box = /** @type {HTMLSelectElement} */ ($("new-players"));
            const chosen = [...box.selectedOptions].map((one) => one.value);
            const { db } = await tell("/api/arena/start", {
              players: chosen,
              ...valuesOf(fields, "new-"),
            });
            location.href = address("/arena", { db });
          }),
        rules,
        labelled("Players, two or more", players),
        ...others,
        element("button#new-start.main", "Start"),
      ),
    ),
  );
  offer();
}
