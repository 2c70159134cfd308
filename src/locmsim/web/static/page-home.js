// @ts-check
// The first page: a position to play at once, a new game, the latest games, running arenas.

import { Board } from "./board.js";
import { painter } from "./cards.js";
import "./cardtext.js";
import { $, element, number, panel, refill, select, valueOf } from "./dom.js";
import { fieldOf, form, opponentsBy, valuesOf } from "./form.js";
import { playersCell } from "./matchrows.js";
import { address, ask, shown, tell } from "./site.js";

const LEVEL = "level5";
/** Whether a game is being begun. */
let starting = false;

/** Begin a game and open its page. @param {Record<string, any>} data
 * @param {(game: string) => Promise<unknown>} [then] */
function begin(data, then) {
  if (starting) return;
  starting = true;
  shown(async () => {
    const { game } = await tell("/api/play/new", data);
    await then?.(game);
    location.href = address(`/game/${game}`);
  }).then((well) => (starting = well));
}

/** The form of a new game. @param {any} choices */
function newGame(choices) {
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
    element("h2", "A new game"),
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

/** A position that begins a game with the first click. @param {any} data */
function today(data) {
  const { key } = data;
  const match = { names: data.names, lanes: data.lanes, below: data.seat };
  const players = [0, 1].map((seat) => (seat === data.seat ? null : LEVEL));
  const board = new Board(data, painter(data), match, (action) =>
    begin({ from: key, step: 0, players }, (game) =>
      tell("/api/machine/walk", { game, version: 0, path: [], actions: [action] }),
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
      element("a", { href: address(`/game/${key}#engine`) }, "Ask the engine"),
    ),
    element("div.stage", board.root),
  );
}

/** The latest games. @param {any[]} games */
function latest(games) {
  const rows = games.map((game) =>
    element(
      "tr",
      playersCell(game.names, game.winner),
      element("td", element("a", { href: address(`/game/${game.key}`) }, game.live || "watch")),
    ),
  );
  return panel(
    "Latest games",
    games.length
      ? element("table", ...rows)
      : element("p.dim", "None yet. Drop a log onto this page to open it."),
    element("p", element("a", { href: address("/games") }, "All games")),
  );
}

/** Arenas and how far they are. @param {any[]} files */
function running(files) {
  const rows = files.map((file, i) =>
    element(
      "li",
      element("a", { href: address("/arena", { db: i }) }, element("bdi", file.name)),
      file.error ? " cannot be read" : `: ${number(file.games)} of ${number(file.goal)} games`,
    ),
  );
  return panel("Arenas", element("ul.plain", ...rows));
}

shown(async () => {
  const [choices, home, games, arenas] = await Promise.all([
    ask("/api/play/choices"),
    ask("/api/home"),
    ask("/api/games", { count: 6 }),
    ask("/api/arena"),
  ]);
  const data = await ask("/api/game", { game: home.position });
  const beside = element("div.beside", newGame(choices), latest(games.games));
  if (arenas.files.length) beside.append(running(arenas.files));
  $("main").replaceChildren(element("div.home", today(data), beside));
});
