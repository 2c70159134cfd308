// @ts-check
// The first page: a position to play at once, a new game, the latest games, running arenas.

import { Board } from "./board.js";
import "./cardtext.js";
import { $, attempt, element, number, panel, refill, select, valueOf } from "./dom.js";
import { fieldOf, form, opponentsBy, valuesOf } from "./form.js";
import { playersCell } from "./matchrows.js";
import { address, ask, tell } from "./site.js";

const LEVEL = "level5";
/** Whether a match is being begun. */
let starting = false;

/** Begin a match and open its page. @param {Record<string, any>} data
 * @param {(match: string) => Promise<unknown>} [then] */
function begin(data, then) {
  if (starting) return;
  starting = true;
  attempt(async () => {
    const { match } = await tell("/api/play/new", data);
    await then?.(match);
    location.href = address(`/match/${match}`);
  }).then((well) => (starting = well));
}

/** The form of a new match. @param {any} choices */
function newMatch(choices) {
  /** @type {import("./form.js").Field[]} */
  const [rules, seed] = choices.fields;
  const made = form(
    ".panel",
    () => {
      const seat = valueOf("seat") || String(Math.floor(2 * Math.random()));
      const [mine, theirs] = [valueOf("who") || null, valueOf("opponent")];
      const players = seat === "0" ? [mine, theirs] : [theirs, mine];
      begin({ ...valuesOf(choices.fields), players });
    },
    element("h2", "A new match"),
    fieldOf(rules),
    select("who", "Player", []),
    select("opponent", "Against", []),
    select("seat", "The player goes", [
      ["0", "first"],
      ["1", "second"],
      ["", "at random"],
    ]),
    fieldOf(seed),
    element("button#begin.main", "Play"),
  );
  const offer = () => {
    const found = opponentsBy(choices.opponents, valueOf("rules"));
    refill("opponent", found);
    refill("who", [["", "You"], ...found]);
  };
  made.addEventListener("change", (event) => {
    if (/** @type {HTMLElement} */ (event.target).id === "rules") offer();
  });
  queueMicrotask(offer);
  return made;
}

/** A position that begins a match with the first click. @param {any} data */
function today(data) {
  const { key } = data;
  const players = [0, 1].map((seat) => (seat === data.seat ? null : LEVEL));
  const board = new Board(data, (action) =>
    begin({ from: key, step: 0, players }, (match) =>
      tell("/api/machine/walk", { match, version: 0, path: [], actions: [action] }),
    ),
  );
  board.view = data.seat;
  board.show({ board: data.steps[0].board, actions: data.actions });
  return element(
    "section.today",
    { "aria-labelledby": "today-title" },
    element(
      "div.bar",
      element("h1#today-title", "Your turn: play on from here against level 5"),
      element("a", { href: address(`/match/${key}#engine`) }, "Ask the engine"),
    ),
    element("div.stage", board.root),
  );
}

/** The latest matches. @param {any[]} matches */
function latest(matches) {
  const rows = matches.map((match) =>
    element(
      "tr",
      playersCell(match.names, match.winner),
      element("td", element("a", { href: address(`/match/${match.key}`) }, match.live || "watch")),
    ),
  );
  return panel(
    "Latest matches",
    matches.length
      ? element("table", ...rows)
      : element("p.dim", "None yet. Drop a log onto this page to open it."),
    element("p", element("a", { href: address("/matches") }, "All matches")),
  );
}

/** Arenas and how far they are. @param {any[]} files */
function running(files) {
  const rows = files.map((file, i) =>
    element(
      "li",
      element("a", { href: address("/arena", { db: i }) }, element("bdi", file.name)),
      file.error ? " cannot be read" : `: ${number(file.games)} of ${number(file.goal)} matches`,
    ),
  );
  return panel("Arenas", element("ul.plain", ...rows));
}

attempt(async () => {
  const [choices, home, found, arenas] = await Promise.all([
    ask("/api/play/choices"),
    ask("/api/home"),
    ask("/api/matches", { count: 6 }),
    ask("/api/arena"),
  ]);
  const data = await ask("/api/match", { match: home.position });
  const beside = element("div.beside", newMatch(choices), latest(found.matches));
  if (arenas.files.length) beside.append(running(arenas.files));
  $("main").replaceChildren(element("div.home", today(data), beside));
});
