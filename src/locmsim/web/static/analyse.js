// @ts-check
// A position: what the searches find there, and what other turns would lead to.

import { painter } from "./cards.js";
import { $, address, element, notice, select, shown, tell, valueOf } from "./site.js";
import { Table, wordsOf } from "./table.js";

/** @typedef {import("./table.js").Board} Board */
/** @typedef {{board: Board, before: Board, done: string[], actions: string[],
 *   chance: number|null}} Step */
/** @typedef {{actions: string[], chance: number, found: number, visits: number,
 *   board: Board}} Line */
/** @typedef {{rules: string, seat: number, names: string[], turn: number|null,
 *   turns: {turn: number, player: number, answer: string}[]}} About */

/** What is asked about. @type {{game: string, turn?: number}|{text: string, rules: string}} */
let source = { text: "", rules: "" };
/** @type {(Step & About & import("./cards.js").Deck)|null} */
let position = null;
/** @type {Step} */
let step;
/** @type {Table} */
let table;
/** What is being done, and what waits for it: clicks are not lost. */
let last = Promise.resolve();
let searching = false;
/** Whether Search was clicked while another search ran. */
let again = false;

const percent = (/** @type {number} */ chance) => `${Math.round(100 * chance)} %`;

/** One thing after the other. @param {() => Promise<void>} work */
function one(work) {
  last = last.then(async () => {
    notice();
    await shown(work);
  });
}

function paste() {
  return element(
    "form",
    {
      class: "panel",
      onsubmit: (/** @type {Event} */ event) => {
        event.preventDefault();
        const asked = { text: valueOf("text"), rules: valueOf("rules") };
        one(() => open(asked));
      },
    },
    element(
      "label",
      { class: "field" },
      "The text of a position, or what a bot is sent in a turn:",
      element("textarea", { id: "text", rows: 5, spellcheck: "false" }),
    ),
    element(
      "div",
      { class: "bar" },
      select("rules", "Rules of what a bot is sent", [
        ["", "by its columns"],
        ["1.5", "1.5"],
        ["1.2", "1.2"],
        ["1.0", "1.0"],
      ]),
      element("button", { id: "open", class: "main", text: "Show" }),
      element("span", {}, "or ", element("a", { href: address("/replays"), text: "a replay" })),
    ),
  );
}

/** Show another position; until it is there, all stays with the one before. @param {typeof source} asked */
async function open(asked) {
  const found = await tell("/api/analyse/open", asked);
  source = { ...asked };
  position = found;
  if (!position) return;
  step = position;
  const here = position;
  if ("game" in source) source.turn = here.turn ?? 0;
  const host = element("div", { class: "table" });
  const seconds = select(
    "seconds",
    "Search for",
    [
      ["0.5", "half a second"],
      ["2", "2 s"],
      ["10", "10 s"],
    ],
    "2",
  );
  const tools = element("div", { class: "bar" });
  if (here.turns.length) {
    /** @type {[string, string][]} */
    const turns = here.turns.map(({ turn, player }) => [
      String(turn),
      `${turn}: ${here.names[player]}`,
    ]);
    const box = select("turn", "Turn", turns, String(here.turn));
    box.addEventListener("change", () => {
      const turn = Number(valueOf("turn"));
      one(async () => {
        if ("game" in source) await open({ game: source.game, turn });
      });
    });
    tools.append(box);
  }
  tools.append(
    seconds,
    element("button", { id: "search", class: "main", text: "Search", onclick: search }),
    element("button", {
      id: "undo",
      text: "Undo",
      onclick: () => one(() => go(step.done.slice(0, -1))),
    }),
    element("button", { id: "reset", text: "Start of the turn", onclick: () => one(() => go([])) }),
    element("button", { id: "other", text: "Another position", onclick: start }),
    element("span", { class: "dim", text: `LOCM ${here.rules}` }),
  );
  $("main").replaceChildren(
    tools,
    element(
      "div",
      { class: "columns" },
      host,
      element("aside", {}, element("div", { id: "now" }), element("div", { id: "found" })),
    ),
  );
  table = new Table(host, here, painter(here), (action) => one(() => go([...step.done, action])));
  if ("game" in source)
    history.replaceState(
      null,
      "",
      address("/analyse", { game: source.game, turn: here.turn ?? 0 }),
    );
  draw();
}

/** Show the position after other actions. @param {string[]} actions */
async function go(actions) {
  step = await tell("/api/analyse/step", { ...source, actions });
  draw();
}

/** @param {string[]} actions */
function wordsList(actions) {
  if (!position) return element("p");
  const { names, seat } = position;
  const boards = [step.before, step.board];
  const words = actions.map((action) =>
    element("li", {
      text: wordsOf(/** @type {any} */ (position), action, boards, names[1 - seat]),
    }),
  );
  return element("ol", {}, ...(words.length ? words : [element("li", { text: "nothing" })]));
}

function draw() {
  if (!position) return;
  const { names, seat, turns, turn } = position;
  table.show({
    board: step.board,
    seat,
    names,
    actions: step.actions,
    before: step.done.length ? step.before : null,
  });
  /** @type {HTMLButtonElement} */ ($("undo")).disabled = !step.done.length;
  /** @type {HTMLButtonElement} */ ($("reset")).disabled = !step.done.length;
  const now = element("section", {}, element("h2", { text: "This turn" }), wordsList(step.done));
  if (step.board.winner !== null)
    now.append(
      element("p", { id: "chance" }, element("bdi", { text: names[step.board.winner] }), " wins."),
    );
  else if (step.chance !== null) {
    const words = ` wins with a chance of ${percent(step.chance)} if the turn ends here (value network).`;
    now.append(element("p", { id: "chance" }, element("bdi", { text: names[seat] }), words));
  }
  const then = turns.find((one) => one.turn === turn);
  if (then)
    now.append(
      element("h2", { text: "Played then" }),
      element("p", {}, element("bdi", { text: then.answer || "no answer" })),
    );
  $("now").replaceChildren(now);
}

/** Search while clicks go on; what is found is shown if the position is still there. */
async function search() {
  again = searching;
  if (searching) return;
  searching = true;
  do {
    again = false;
    await shown(searched);
  } while (again);
  searching = false;
}

async function searched() {
  const asked = position;
  $("found").replaceChildren(element("p", { text: "Searching\u2026" }));
  const seconds = Number(valueOf("seconds"));
  let found;
  try {
    found = await tell("/api/analyse/search", { ...source, seconds });
  } catch (error) {
    if (position === asked) $("found").replaceChildren();
    throw error;
  }
  if (position !== asked) return;
  const lines = found.lines.map((/** @type {Line} */ line) =>
    element(
      "li",
      { class: "line" },
      element(
        "button",
        {
          onclick: () => one(() => go(line.actions)),
          "data-line": line.actions.join(";") || "PASS",
        },
        `${percent(line.chance)}, ${line.found} of ${found.searches} searches`,
      ),
      wordsList(line.actions),
    ),
  );
  const held = found.opponent_hand.map((/** @type {{title: string, chance: number}} */ card) =>
    element("li", {}, `${percent(card.chance)} `, element("bdi", { text: card.title })),
  );
  $("found").replaceChildren(
    element("h2", { text: "Best turns, with the chance of winning" }),
    element("ul", { id: "lines", class: "plain" }, ...lines),
    element("p", {
      class: "dim",
      text: `${found.nodes} positions in ${found.seconds.toFixed(1)} s`,
    }),
    element("h2", { text: "The opponent may hold" }),
    element("ul", { class: "plain small" }, ...held),
  );
}

function start() {
  position = null;
  history.replaceState(null, "", address("/analyse"));
  $("main").replaceChildren(element("h1", { text: "Analyse a position" }), paste());
}

const query = new URLSearchParams(location.search);
start();
const game = query.get("game");
if (game) {
  const turn = query.get("turn");
  one(() => open(turn === null ? { game } : { game, turn: Number(turn) }));
}
