// @ts-check
// The form of a new tournament.

import { $, element, optionsOf, valueOf } from "./dom.js";
import { fieldOf, opponentsBy, valuesOf } from "./form.js";
import { address, ask, shown, tell } from "./site.js";

/** Put the form at the end of the page. */
export async function newArena() {
  const { opponents } = await ask("/api/play/choices");
  const { fields } = await ask("/api/arena/form");
  const players = element("select", { id: "new-players", multiple: true, size: 5 });
  const offer = () =>
    players.replaceChildren(...optionsOf(opponentsBy(opponents, valueOf("new-rules"))));
  const [rules, ...others] = fields.map((/** @type {import("./form.js").Field} */ one) =>
    fieldOf(one, "new-"),
  );
  rules.addEventListener("change", offer);
  $("main").append(
    element(
      "details",
      { id: "new-arena", class: "panel" },
      element("summary", { text: "A new arena" }),
      element(
        "form",
        {
          class: "bar",
          onsubmit: (/** @type {Event} */ event) => {
            event.preventDefault();
            const box = /** @type {HTMLSelectElement} */ ($("new-players"));
            const chosen = [...box.selectedOptions].map((one) => one.value);
            shown(async () => {
              const { db } = await tell("/api/arena/start", {
                players: chosen,
                ...valuesOf(fields, "new-"),
              });
              location.href = address("/arena", { db });
            });
          },
        },
        rules,
        element(
          "label",
          { class: "field", for: "new-players" },
          element("span", { text: "Players, two or more" }),
          players,
        ),
        ...others,
        element("button", { id: "new-start", class: "main", text: "Start" }),
      ),
    ),
  );
  offer();
}
