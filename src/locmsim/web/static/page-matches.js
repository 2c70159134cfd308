// @ts-check
// The page Games: a list of all matches, with filters.

import { $, button, element, labelled, named, refill, select, valueOf } from "./dom.js";
import { MatchList, matchRow } from "./matchrows.js";
import { follow } from "./follow.js";
import { form } from "./form.js";
import { ask } from "./site.js";

/** On a phone the list stays short. */
const ROWS = matchMedia("(max-width: 760px)").matches ? 25 : 100;
const TITLES = ["game", "players", "rules", "turns", "fault", "open"];
const FILTERS = ["player", "lost_by", "fault", "least", "most", "rules"];

/** @param {import("./matchrows.js").Game} game */
function row(game) {
  const where = game.number === null ? game.source : `${game.source}:${game.number}`;
  const rules = element("td", { "data-name": "rules" }, game.rules ?? game.game);
  return matchRow(
    game,
    element("td", element("bdi", where)),
    [rules],
    game.live ? [game.live] : game.game ? ["watch"] : undefined,
  );
}

const games = new MatchList("rows", ROWS, async (after) => {
  const set = FILTERS.map((name) => [name, valueOf(name)]).filter(([, value]) => value);
  const query = { ...Object.fromEntries(set), after, count: ROWS };
  const [found, choices] = await Promise.all([ask("/api/games", query), ask("/api/games/choices")]);
  /** @param {string} name @param {string[]} texts */
  const offer = (name, texts) => refill(name, [["", "all"], ...named(texts)]);
  for (const name of ["player", "lost_by"]) offer(name, choices.players);
  offer("fault", ["any", "none", ...choices.kinds]);
  offer("rules", choices.rules);
  $("errors").replaceChildren(
    ...found.errors.map((/** @type {string} */ text) => element("li", text)),
  );
  return { titles: TITLES, rows: found.games.map(row), next: found.next };
});

/** A field for a number of turns. @param {string} id @param {string} label */
const turns = (id, label) =>
  labelled(label, element(`input#${id}.few`, { type: "number", min: 0, inputmode: "numeric" }));
$("main").append(
  element("h1", "Games"),
  form(
    ".bar",
    () => {},
    { onchange: () => games.show() },
    select("player", "Player", [["", "all"]]),
    select("lost_by", "Lost by", [["", "all"]]),
    select("fault", "Fault", [["", "all"]]),
    select("rules", "Rules", [["", "all"]]),
    turns("least", "Turns from"),
    turns("most", "to"),
    button("#again", "Reload", () => games.show(games.places)),
  ),
  element("ul#errors"),
  games.root,
);
await games.show();
// The list grows while its first part is shown.
follow("games", async () => {
  if (games.places.length === 1) await games.list().catch(() => {});
});
