// @ts-check
// The page Matches: a list of all matches, with filters.

import { $, button, element, labelled, named, refill, select, valueOf } from "./dom.js";
import { MatchList, matchRow } from "./matchrows.js";
import { follow } from "./follow.js";
import { form } from "./form.js";
import { ask } from "./site.js";

/** On a phone the list stays short. */
const ROWS = matchMedia("(max-width: 760px)").matches ? 25 : 100;
const TITLES = ["match", "players", "rules", "turns", "fault", "open"];
const FILTERS = ["player", "lost_by", "fault", "least", "most", "rules"];

/** @param {import("./matchrows.js").ListedMatch} match */
function row(match) {
  const where = match.number === null ? match.source : `${match.source}:${match.number}`;
  const rules = element("td", { "data-name": "rules" }, match.rules ?? match.game);
  return matchRow(
    match,
    element("td", element("bdi", where)),
    [rules],
    match.live ? [match.live] : match.game ? ["watch"] : undefined,
  );
}

const list = new MatchList("rows", ROWS, async (after) => {
  const set = FILTERS.map((name) => [name, valueOf(name)]).filter(([, value]) => value);
  const query = { ...Object.fromEntries(set), after, count: ROWS };
  const [found, choices] = await Promise.all([
    ask("/api/matches", query),
    ask("/api/matches/choices"),
  ]);
  /** @param {string} name @param {string[]} texts */
  const offer = (name, texts) => refill(name, [["", "all"], ...named(texts)]);
  for (const name of ["player", "lost_by"]) offer(name, choices.players);
  offer("fault", ["any", "none", ...choices.kinds]);
  offer("rules", choices.rules);
  $("errors").replaceChildren(
    ...found.errors.map((/** @type {string} */ text) => element("li", text)),
  );
  return { titles: TITLES, rows: found.matches.map(row), next: found.next };
});

/** A field for a number of turns. @param {string} id @param {string} label */
const turns = (id, label) =>
  labelled(label, element(`input#${id}.few`, { type: "number", min: 0, inputmode: "numeric" }));
$("main").append(
  element("h1", "Matches"),
  form(
    ".bar",
    () => {},
    { onchange: () => list.show() },
    select("player", "Player", [["", "all"]]),
    select("lost_by", "Lost by", [["", "all"]]),
    select("fault", "Fault", [["", "all"]]),
    select("rules", "Rules", [["", "all"]]),
    turns("least", "Turns from"),
    turns("most", "to"),
    button("#again", "Reload", () => list.show(list.places)),
  ),
  element("ul#errors"),
  list.root,
);
await list.show();
// The list grows while its first part is shown.
follow("matches", async () => {
  if (list.places.length === 1) await list.list().catch(() => {});
});
