// @ts-check
// The first page: a position to play at once, a new game, the latest games, running arenas.

import { Board } from "./board.js";
import { painter } from "./cards.js";
import "./cardtext.js";
import { $, element, number, refill, select, valueOf } from "./dom.js";
import { follow } from "./follow.js";
import { fieldOf, opponentsBy, valuesOf } from "./form.js";
import { playersCell } from "./matches.js";
import { address, ask, shown, tell } from "./site.js";

const LEVEL = "level5";
/** Whether a game is being begun. */
let starting = false;

/** Begin a game and open its page. @param {Record<string, any>} data
 * @param {(game: string) => Promise<void>} [then] */
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
  const form = element(
    "form",
    {
      class: "panel",
      "aria-labelledby": "new-title",
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        const seat = valueOf("seat") || String(Math.floor(2 * Math.random()));
        const [mine, theirs] = [valueOf("who") || null, valueOf("opponent")];
        begin({
          ...valuesOf(choices.fields),
          players: seat === "0" ? [mine, theirs] : [theirs, mine],
        });
      },
    },
    element("h2", { id: "new-title", text: "A new game" }),
    fieldOf(rules),
    select("who", "Player", []),
    select("opponent", "Against", []),
    select("seat", "The player goes", [
      ["0", "first"],
      ["1", "second"],
      ["", "at random"],
    ]),
    fieldOf(seed),
    element("button", { id: "begin", class: "main", text: "Play" }),
  );
  const offer = () => {
    const found = opponentsBy(choices.opponents, valueOf("rules"));
    refill("opponent", found);
    refill("who", [["", "You"], ...found]);
  };
  form.addEventListener("change", (event) => {
    if (/** @type {HTMLElement} */ (event.target).id === "rules") offer();
  });
  queueMicrotask(offer);
  return form;
}

/** A position that begins a game with the first click. @param {any} data */
function today(data) {
  const { key } = data;
  const match = { names: data.names, lanes: data.lanes, below: data.seat };
  const players = [0, 1].map((seat) => (seat === data.seat ? null : LEVEL));
  const board = new Board(data, painter(data), match, (action) =>
    begin({ from: key, step: 0, players }, async (game) => {
      const view = await asked(game);
      await tell("/api/play/do", { game, version: view.version, client: "home", action });
    }),
  );
  board.view = data.seat;
  board.show({ board: data.steps[0].board, actions: data.actions });
  return element(
    "section",
    { class: "today", "aria-labelledby": "today-title" },
    element(
      "div",
      { class: "bar" },
      element("h1", { id: "today-title", text: "Your turn: play on from here against level 5" }),
      element("a", { href: address(`/game/${key}#engine`), text: "Ask the engine" }),
    ),
    element("div", { class: "stage" }, board.root),
  );
}

/** A game once it has started: it is this player's turn. @param {string} game @returns {Promise<any>} */
const asked = (game) =>
  new Promise((resolve, reject) => {
    const end = follow(`game:${game}`, async () => {
      const view = await ask("/api/play/state", { game }).catch(reject);
      if (view && !view.asked && !view.over) return;
      end();
      resolve(view);
    });
  });

/** The latest games. @param {any[]} games */
function latest(games) {
  const rows = games.map((game) =>
    element(
      "tr",
      {},
      playersCell(game.names, game.winner),
      element(
        "td",
        {},
        element("a", { href: address(`/game/${game.key}`), text: game.live || "watch" }),
      ),
    ),
  );
  return element(
    "section",
    { class: "panel" },
    element("h2", { text: "Latest games" }),
    games.length
      ? element("table", {}, ...rows)
      : element("p", { class: "dim", text: "None yet. Drop a log onto this page to open it." }),
    element("p", {}, element("a", { href: address("/games"), text: "All games" })),
  );
}

/** Arenas and how far they are. @param {any[]} files */
function running(files) {
  const rows = files.map((file, i) =>
    element(
      "li",
      {},
      element("a", { href: address("/arena", { db: i }) }, element("bdi", { text: file.name })),
      file.error ? " cannot be read" : `: ${number(file.games)} of ${number(file.goal)} games`,
    ),
  );
  return element(
    "section",
    { class: "panel" },
    element("h2", { text: "Arenas" }),
    element("ul", { class: "plain" }, ...rows),
  );
}

shown(async () => {
  const [choices, home, games, arenas] = await Promise.all([
    ask("/api/play/choices"),
    ask("/api/home"),
    ask("/api/games", { count: 6 }),
    ask("/api/arena"),
  ]);
  const data = await ask("/api/game", { game: home.position });
  const beside = element("div", { class: "beside" }, newGame(choices), latest(games.games));
  if (arenas.files.length) beside.append(running(arenas.files));
  $("main").replaceChildren(element("div", { class: "home" }, today(data), beside));
});
