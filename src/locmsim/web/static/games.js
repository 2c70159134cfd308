// @ts-check
// The matches there are, with filters.

import { $, element, select, valueOf } from "./dom.js";
import { faultCell, linksCell, playersCell, showPart } from "./matches.js";
import { ask, shown } from "./site.js";

const ROWS = 100;
let start = 0;
let asked = 0; // how often: only the last question's answer is shown

/** @typedef {{key: string, source: string, number: number|null, names: string[],
 *   winner: number|null, fault: null|{player: number, kind: string, message: string},
 *   turns: number, rules: string}} Game */

/** @param {Game} game */
function row(game) {
  const { fault, names } = game;
  const where = game.number === null ? game.source : `${game.source}:${game.number}`;
  return element(
    "tr",
    { "data-key": game.key },
    element("td", {}, element("bdi", { text: where })),
    playersCell(names, game.winner),
    element("td", { text: game.rules }),
    element("td", { text: game.turns, class: "number" }),
    faultCell(fault && { ...fault, name: names[fault.player] }),
    linksCell(game.key),
  );
}

async function list() {
  /** @type {Record<string, string|number>} */
  const query = { start, count: ROWS };
  for (const name of ["lost_by", "fault", "least", "most"])
    if (valueOf(name)) query[name] = valueOf(name);
  const number = ++asked;
  const found = await ask("/api/replays", query);
  if (number !== asked) return;
  refill("lost_by", found.players);
  refill("fault", ["any", "none", ...found.kinds]);
  $("errors").replaceChildren(
    ...found.errors.map((/** @type {string} */ text) => element("li", { text })),
  );
  $("rows").replaceChildren(...found.games.map(row));
  showPart(start, ROWS, found.total);
}

/** Other options, the same choice. @param {string} id @param {string[]} options */
function refill(id, options) {
  const box = /** @type {HTMLSelectElement} */ ($(id));
  const chosen = box.value;
  box.replaceChildren(element("option", { value: "", text: "all" }));
  for (const text of options) box.append(element("option", { value: text, text }));
  box.value = options.includes(chosen) ? chosen : "";
}

/** @param {number} from */
function show(from) {
  start = Math.max(0, from);
  shown(list);
}

const bound = { type: "number", min: 0, size: 4, inputmode: "numeric" };
$("main").append(
  element(
    "form",
    { class: "bar", onsubmit: (/** @type {Event} */ event) => event.preventDefault() },
    select("lost_by", "Lost by", [["", "all"]]),
    select("fault", "Fault", [["", "all"]]),
    element(
      "label",
      { class: "field" },
      "Turns from ",
      element("input", { id: "least", ...bound }),
    ),
    element("label", { class: "field" }, "to ", element("input", { id: "most", ...bound })),
    element("button", { id: "again", type: "button", onclick: () => show(start), text: "Reload" }),
  ),
  element("ul", { id: "errors" }),
  element(
    "table",
    { class: "games" },
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        ...["game", "players", "rules", "turns", "fault", ""].map((text) =>
          element("th", { text }),
        ),
      ),
    ),
    element("tbody", { id: "rows" }),
  ),
  element(
    "p",
    { class: "bar" },
    element("button", { id: "before", onclick: () => show(start - ROWS), text: "Previous" }),
    element("span", { id: "count", "aria-live": "polite" }),
    element("button", { id: "after", onclick: () => show(start + ROWS), text: "Next" }),
  ),
);
for (const id of ["lost_by", "fault", "least", "most"])
  $(id).addEventListener("change", () => show(0));
show(0);
