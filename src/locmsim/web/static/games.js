// @ts-check
// The page Games: a list of all matches, with filters.

import { $, element, named, number, refill, select, valueOf } from "./dom.js";
import { faultCell, linksCell, playersCell, showPart } from "./matches.js";
import { follow } from "./follow.js";
import { ask, shown } from "./site.js";

/** On a phone the list stays short. */
const ROWS = matchMedia("(max-width: 760px)").matches ? 25 : 100;
/** Where this part of the list begins, and the ones before it. */
let places = [""];
let following = ""; // where the next part begins
let asked = 0; // how often: only the last question's answer is shown

/** @typedef {{key: string, source: string, number: number|null, names: string[],
 *   winner: number|null, fault: null|{player: number, kind: string, message: string},
 *   turns: number, rules: string|null, game: string, live: "live"|"paused"|""}} Game */

/** @param {Game} game */
function row(game) {
  const { fault, names } = game;
  const where = game.number === null ? game.source : `${game.source}:${game.number}`;
  return element(
    "tr",
    { "data-key": game.key },
    element("td", {}, element("bdi", { text: where })),
    playersCell(names, game.winner),
    element("td", { "data-name": "rules", text: game.rules ?? game.game }),
    element("td", { "data-name": "turns", text: number(game.turns), class: "number" }),
    faultCell(fault && { ...fault, name: names[fault.player] }),
    linksCell(game.key, game.live ? [game.live] : game.game ? ["watch"] : undefined),
  );
}

async function list() {
  /** @type {Record<string, string|number>} */
  const query = {};
  for (const name of ["player", "lost_by", "fault", "least", "most", "rules"])
    if (valueOf(name)) query[name] = valueOf(name);
  const question = ++asked;
  const [found, choices] = await Promise.all([
    ask("/api/games", { ...query, after: places[places.length - 1], count: ROWS }),
    ask("/api/games/choices"),
  ]);
  if (question !== asked) return;
  /** @param {string} name @param {string[]} texts */
  const offer = (name, texts) => refill(name, [["", "all"], ...named(texts)]);
  for (const name of ["player", "lost_by"]) offer(name, choices.players);
  offer("fault", ["any", "none", ...choices.kinds]);
  offer("rules", choices.rules);
  $("errors").replaceChildren(
    ...found.errors.map((/** @type {string} */ text) => element("li", { text })),
  );
  $("rows").replaceChildren(...found.games.map(row));
  following = found.next ?? "";
  showPart(ROWS * (places.length - 1), found.games.length, Boolean(following));
}

/** @param {string[]} from */
function show(from) {
  places = from;
  return shown(list);
}

const bound = { type: "number", min: 0, class: "few", inputmode: "numeric" };
$("main").append(
  element("h1", { text: "Games" }),
  element(
    "form",
    { class: "bar", onsubmit: (/** @type {Event} */ event) => event.preventDefault() },
    select("player", "Player", [["", "all"]]),
    select("lost_by", "Lost by", [["", "all"]]),
    select("fault", "Fault", [["", "all"]]),
    select("rules", "Rules", [["", "all"]]),
    element(
      "label",
      { class: "field" },
      "Turns from ",
      element("input", { id: "least", ...bound }),
    ),
    element("label", { class: "field" }, "to ", element("input", { id: "most", ...bound })),
    element("button", { id: "again", type: "button", onclick: () => show(places), text: "Reload" }),
  ),
  element("ul", { id: "errors" }),
  element(
    "table",
    { class: "games cards" },
    element(
      "thead",
      {},
      element(
        "tr",
        {},
        ...["game", "players", "rules", "turns", "fault", "open"].map((text) =>
          element("th", { text, scope: "col", class: text === "turns" ? "number" : null }),
        ),
      ),
    ),
    element("tbody", { id: "rows" }),
  ),
  element(
    "p",
    { class: "bar" },
    element("button", { id: "before", onclick: () => show(places.slice(0, -1)), text: "Previous" }),
    element("span", { id: "count", "aria-live": "polite" }),
    element("button", { id: "after", onclick: () => show([...places, following]), text: "Next" }),
  ),
);
for (const id of ["player", "lost_by", "fault", "least", "most", "rules"])
  $(id).addEventListener("change", () => show([""]));
await show([""]);
// The list grows while its first part is shown.
follow("games", async () => {
  if (places.length === 1) await list().catch(() => {});
});
