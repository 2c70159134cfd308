// @ts-check
// The page Arena: a tournament while it is played, with its table, the score over the games, the
// sequential test, the pairs and the games.

import { CardTable } from "./cardtable.js";
import { drawCurve } from "./chart.js";
import { $, element, minus, number as digits, select, valueOf } from "./dom.js";
import { follow } from "./follow.js";
import { fieldOf, valuesOf } from "./form.js";
import { faultCell, linksCell, playersCell, showPart } from "./matches.js";
import { address, ask, notice, shown, tell } from "./site.js";

/** @typedef {{name: string, spec: string, games: number, wins: number, draws: number,
 *   points: number, games_by_seat: number[], wins_by_seat: number[], pairs: number, score: number,
 *   interval: number[], elo: null|{value: number|null, interval: (number|null)[]},
 *   mean_turn_ms: number|null, worst_turn_ms: number|null, late_turns: number,
 *   illegal: Record<string, number>, faults: Record<string, number>}} Player */
/** @typedef {{players: string[], won: number, mostly_won: number, split: number,
 *   mostly_lost: number, lost: number, score: number, interval: number[]}} Pairing */
/** @typedef {{elo0: number, elo1: number, llr: number, lower: number, upper: number,
 *   accepted: string|null, pairs: number, verdict: string}} Sprt */
/** @typedef {{version: string, same: boolean, error?: string|null, path: string, title: string,
 *   turn: string, scored: boolean, watched: boolean, cards: boolean, finished: boolean,
 *   player: number,
 *   results: {settings: {mirror: boolean, mode: string}, games: number, goal: number,
 *   mean_turns: number|null, players: Player[], pairings: Pairing[], sprt?: Sprt},
 *   score: {games: number[], score: number[], low: number[], high: number[]},
 *   llr: null|{pairs: number[], llr: number[]}}} Results */
/** @typedef {{key: string, number: number, players: number[], winner: number|null,
 *   turns: number, fault: null|[number, string]}} Ending */

const ROWS = 20;
/** @type {Results|null} */
let now = null;
let version = "";
let player = 0;
/** Where this part of the games begins, and the ones before it. @type {(number|"")[]} */
let places = [""];
/** Where the next one does. @type {number|null} */
let following = null;
/** The number of games and the time at the first look, from which the time left is estimated.
 * @type {{games: number, at: number}|null} */
let began = null;
/** Ends following. */
let end = () => {};
const cards = new CardTable();

const percent = (/** @type {number} */ share) => (100 * share).toFixed(1);
/** An Elo difference with its sign. @param {number|null} elo @param {string} none where there is none */
const signed = (elo, none) =>
  elo === null ? none : `${elo < 0 ? "\u2212" : "+"}${Math.abs(Math.round(elo))}`;

/** @param {Player} one */
function eloText(one) {
  if (one.elo === null || !one.pairs) return "\u2013";
  const [low, high] = one.elo.interval;
  const value = signed(one.elo.value, one.score > 0.5 ? "+\u221e" : "\u2212\u221e");
  return `${value} [${signed(low, "\u2212\u221e")}, ${signed(high, "+\u221e")}]`;
}

/** @param {number} wins @param {number} games */
const rate = (wins, games) => (games ? percent(wins / games) : "\u2013");

/** @param {string} id @param {string[]} titles @param {HTMLElement[]} rows */
function table(id, titles, rows) {
  // On a phone each row is a card, and its numbers have their names beside them.
  for (const row of rows)
    [...row.children].forEach((cell, i) => {
      if (cell.matches("td.number")) cell.setAttribute("data-name", titles[i]);
    });
  const head = titles.map((text, i) => {
    const number = rows[0]?.children[i]?.matches("td.number");
    return element("th", { text, scope: "col", class: number ? "number" : null });
  });
  $(id).replaceChildren(
    element("thead", {}, element("tr", {}, ...head)),
    element("tbody", {}, ...rows),
  );
}

/** A cell with a sum, which tells its parts. @param {Record<string, number>} counts */
function countsCell(counts) {
  const parts = Object.entries(counts).sort((a, b) => b[1] - a[1]);
  return element("td", {
    class: "number",
    text: digits(parts.reduce((sum, [, count]) => sum + count, 0)),
    title: parts.map(([what, count]) => `${digits(count)} ${what}`).join(", "),
  });
}

/** @param {Results} results */
function drawPlayers(results) {
  const players = results.results.players.map((one, index) => ({ one, index }));
  const strength = (/** @type {Player} */ one) => one.elo?.value ?? one.score;
  // Two players stay in the order in which they were named.
  if (players.length > 2) players.sort((a, b) => strength(b.one) - strength(a.one));
  const drawn = players.some(({ one }) => one.draws);
  const titles = ["player", "games", "wins", ...(drawn ? ["draws"] : [])];
  if (results.scored) titles.push("score");
  titles.push("win %", "first", "second", "95 % interval", "Elo", `ms/${results.turn}`, "worst");
  titles.push("late", "illegal", "faults");
  const rows = players.map(({ one, index }) => {
    const number = (/** @type {string|number} */ text) => element("td", { class: "number", text });
    const choose = element("button", {
      class: "name",
      type: "button",
      "aria-pressed": index === player ? "true" : "false",
      title: one.spec,
      onclick: () => pick(index),
    });
    choose.append(element("bdi", { text: one.name }));
    const row = element(
      "tr",
      { "data-player": index },
      element("th", { scope: "row" }, choose),
      number(digits(one.games)),
      number(digits(one.wins)),
      ...(drawn ? [number(digits(one.draws))] : []),
      ...(results.scored
        ? [number(one.games ? minus((one.points / one.games).toFixed(2)) : "\u2013")]
        : []),
      number(rate(one.wins, one.games)),
      number(rate(one.wins_by_seat[0], one.games_by_seat[0])),
      number(rate(one.wins_by_seat[1], one.games_by_seat[1])),
      number(one.pairs ? one.interval.map(percent).join(" \u2013 ") : "\u2013"),
      number(eloText(one)),
      number(one.mean_turn_ms === null ? "\u2013" : one.mean_turn_ms.toFixed(2)),
      number(one.worst_turn_ms === null ? "\u2013" : one.worst_turn_ms.toFixed(1)),
      number(digits(one.late_turns)),
      countsCell(one.illegal),
      countsCell(one.faults),
    );
    return row;
  });
  table("players", titles, rows);
}

/** @param {Results} results */
function drawScore(results) {
  const { score } = results;
  const one = results.results.players[results.player];
  $("scorename").textContent = one.name;
  $("scorenow").textContent = one.pairs
    ? `${percent(one.score)} % after ${digits(score.games.at(-1) ?? 0)} games, 95 % interval ` +
      `${one.interval.map(percent).join(" to ")} %`
    : "no results yet";
  // The first games prove so little that their band would fill the picture.
  const later = Math.floor(score.games.length / 10);
  const low = Math.min(0.45, ...score.low.slice(later), ...score.score.slice(later));
  const high = Math.max(0.55, ...score.high.slice(later), ...score.score.slice(later));
  drawCurve($("scorechart"), {
    x: score.games,
    y: score.score,
    low: score.low,
    high: score.high,
    lines: [{ y: 0.5, text: "" }],
    bottom: Math.max(0, low - 0.02),
    top: Math.min(1, high + 0.02),
    unit: "games",
    tick: (value) => `${Math.round(100 * value)} %`,
  });
}

/** @param {Results} results */
function drawTest(results) {
  const { sprt, settings } = results.results;
  $("test").hidden = !sprt || !results.llr;
  if (!sprt || !results.llr) return;
  const counted = settings.mirror ? "pairs" : "games";
  const elo = (/** @type {number} */ value) => signed(value, "");
  $("verdict").textContent =
    `${sprt.verdict} after ${digits(sprt.pairs)} ${counted} ` +
    `(SPRT of Elo ${elo(sprt.elo0)} against ${elo(sprt.elo1)}, LLR ${minus(sprt.llr.toFixed(2))}, ` +
    `bounds ${minus(sprt.lower.toFixed(2))} and ${sprt.upper.toFixed(2)})`;
  const { pairs, llr } = results.llr;
  const most = Math.max(sprt.upper, ...llr);
  const least = Math.min(sprt.lower, ...llr);
  const margin = (most - least) / 10;
  drawCurve($("llrchart"), {
    x: pairs,
    y: llr,
    lines: [
      { y: sprt.upper, text: `H1: ${sprt.upper.toFixed(2)}`, class: "bound" },
      { y: sprt.lower, text: `H0: ${minus(sprt.lower.toFixed(2))}`, class: "bound" },
    ],
    bottom: least - margin,
    top: most + margin,
    unit: counted,
    tick: (value) => minus(value.toFixed(1)),
  });
}

/** @param {Results} results */
function drawPairs(results) {
  const { players, pairings, settings } = results.results;
  $("pairs").hidden = players.length < 3;
  if (players.length < 3) return;
  /** @type {Map<string, {score: number, pairs: number, interval: number[]}>} */
  const met = new Map();
  for (const pairing of pairings) {
    const pairs =
      pairing.won + pairing.mostly_won + pairing.split + pairing.mostly_lost + pairing.lost;
    if (!pairs) continue;
    const [a, b] = pairing.players.map((name) => players.findIndex((one) => one.name === name));
    const [low, high] = pairing.interval;
    met.set(`${a} ${b}`, { score: pairing.score, pairs, interval: [low, high] });
    met.set(`${b} ${a}`, { score: 1 - pairing.score, pairs, interval: [1 - high, 1 - low] });
  }
  const counted = settings.mirror ? "pairs" : "games";
  $("pairunit").textContent = `Score in percent of the row's player, and the ${counted}.`;
  const rows = players.map((one, a) => {
    const cells = players.map((other, b) => {
      const found = met.get(`${a} ${b}`);
      const name = { "data-name": other.name };
      if (a === b) return element("td", { class: "none self", text: "\u2013" });
      if (!found) return element("td", { ...name, class: "none", text: "\u2013" });
      const cell = element("td", {
        ...name,
        class: found.score >= 0.5 ? "heat" : "heat below",
        title:
          `${one.name} against ${other.name}: ` +
          `${found.interval.map(percent).join(" to ")} % in ${digits(found.pairs)} ${counted}`,
      });
      cell.style.setProperty("--share", `${90 * Math.abs(found.score - 0.5)}%`);
      const games = element("button", { type: "button", onclick: () => pick(a, b) });
      games.append(element("b", { text: percent(found.score) }), ` (${digits(found.pairs)})`);
      cell.append(games);
      return cell;
    });
    const name = element("bdi", { text: one.name });
    return element("tr", {}, element("th", { scope: "row" }, name), ...cells);
  });
  table("matrix", ["player", ...players.map((one) => one.name)], rows);
}

/** @param {Results} results */
function drawState(results) {
  const { games, goal, mean_turns } = results.results;
  const bar = /** @type {HTMLProgressElement} */ ($("progress"));
  bar.max = Math.max(1, goal);
  bar.value = games;
  let text = `${digits(games)} of ${digits(goal)} games of ${results.title}`;
  if (mean_turns !== null) text += `, ${mean_turns.toFixed(1)} ${results.turn}s a game`;
  if (results.finished) text += ", finished";
  else if (began !== null && games > began.games) {
    const seconds = (performance.now() - began.at) / 1000;
    const rate = (games - began.games) / seconds;
    const left = (goal - games) / rate;
    text += `, ${rate.toFixed(1)} games/s, `;
    text +=
      left < 90 ? `about ${Math.ceil(left)} s left` : `about ${Math.ceil(left / 60)} min left`;
  }
  $("state").textContent = text;
  if (began === null || games < began.games) began = { games, at: performance.now() };
}

/** Put the names of players into a choice, without losing what was chosen.
 * @param {string} id @param {string} first @param {Player[]} players */
function offer(id, first, players) {
  const box = /** @type {HTMLSelectElement} */ ($(id));
  const names = [first, ...players.map((one) => one.name)];
  if (names.join("\n") === [...box.options].map((option) => option.text).join("\n")) return;
  const chosen = box.value;
  box.replaceChildren(...names.map((text, i) => element("option", { value: i - 1, text })));
  box.value = Number(chosen) < players.length && chosen ? chosen : "-1";
}

async function listGames() {
  if (!now) return;
  const wanted = () => ({
    db: valueOf("db"),
    player: valueOf("who"),
    other: valueOf("against"),
    lost: valueOf("ended") === "lost" && valueOf("who") !== "-1" ? 1 : 0,
  });
  const query = wanted();
  const from = places[places.length - 1];
  const latest = () =>
    now !== null &&
    from === places[places.length - 1] &&
    JSON.stringify(query) === JSON.stringify(wanted());
  /** @type {{games: Ending[], next: number|null}} */
  const found = await ask("/api/arena/games", { ...query, before: from, count: ROWS });
  if (!now || !latest()) return;
  following = found.next;
  const { watched, turn } = now;
  const players = now.results.players;
  const rows = found.games.map((/** @type {Ending} */ game) => {
    const names = game.players.map((index) => players[index]?.name ?? "?");
    const { fault } = game;
    return element(
      "tr",
      { "data-key": game.key },
      element("td", { class: "number", text: digits(game.number) }),
      playersCell(names, game.winner),
      element("td", { class: "number", text: digits(game.turns) }),
      faultCell(fault && { name: names[fault[0]] ?? "?", kind: fault[1] }),
      ...(watched ? [linksCell(game.key)] : []),
    );
  });
  table("games", ["game", "players", `${turn}s`, "fault", ...(watched ? ["open"] : [])], rows);
  showPart(ROWS * (places.length - 1), rows.length, following !== null);
}

function draw() {
  if (!now) return;
  $("results").hidden = false;
  drawState(now);
  drawPlayers(now);
  drawScore(now);
  drawTest(now);
  drawPairs(now);
}

/** Ask for what is new, and show it. */
async function look() {
  const query = { db: valueOf("db"), player, known: version };
  /** @type {Results} */
  const found = await ask("/api/arena/results", query);
  // Somebody may have chosen another file or player in the meantime.
  if (query.db !== valueOf("db") || query.player !== player || query.known !== version) return;
  notice(found.error ?? "");
  if (found.same || found.error) return;
  now = found;
  version = found.version;
  player = found.player;
  offer("who", "everybody", found.results.players);
  offer("against", "everybody", found.results.players);
  cards.offer(Number(valueOf("db")), found);
  draw();
  await listGames();
}

/** Follow the tournament that is chosen. */
function followChosen() {
  end();
  end = follow(`arena:${valueOf("db")}`, () => shown(look).then(() => shown(tellRunning)));
}

/** Say whether it runs, and why it has broken off. */
async function tellRunning() {
  const { files } = await ask("/api/arena");
  const { running, failure } = files[Number(valueOf("db"))];
  $("stop").hidden = !running;
  if (failure) notice(`This arena has broken off: ${failure}`);
}

/** Show the curve and the games of another player. @param {number} index @param {number} [other] */
function pick(index, other = -1) {
  player = index;
  /** @type {HTMLSelectElement} */ ($("who")).value = String(index);
  /** @type {HTMLSelectElement} */ ($("against")).value = String(other);
  places = [""];
  version = "";
  shown(look);
}

/** Show another part of the list of games. @param {(number|"")[]} from */
function page(from) {
  places = from;
  shown(listGames);
}

async function open() {
  const { files } = await ask("/api/arena");
  if (!files.length) {
    $("files").append(
      element("p", { text: "No file of results was named. Start: locmsim web --db results.db" }),
    );
    return;
  }
  const wanted = new URLSearchParams(location.search).get("db") ?? "0";
  const options = files.map((/** @type {{path: string}} */ file, /** @type {number} */ i) => [
    String(i),
    file.path,
  ]);
  $("files").append(select("db", "Results", options, wanted in files ? wanted : "0"));
  const stop = element("button", {
    id: "stop",
    text: "Stop",
    hidden: true,
    onclick: () =>
      shown(async () => {
        await tell("/api/arena/stop", { db: Number(valueOf("db")) });
        stop.hidden = true;
      }),
  });
  $("files").append(stop);
  $("db").addEventListener("change", () => {
    now = null;
    began = null;
    version = "";
    places = [""];
    player = 0;
    $("results").hidden = true;
    followChosen();
  });
  followChosen();
}

/** The form of a new tournament. */
async function newArena() {
  const { opponents } = await ask("/api/play/choices");
  const { fields } = await ask("/api/arena/form");
  const players = element("select", { id: "new-players", multiple: true, size: 5 });
  const offer = () => {
    const fitting = opponents.filter((/** @type {{rules: string[]}} */ one) =>
      one.rules.includes(valueOf("new-rules")),
    );
    players.replaceChildren(
      ...fitting.map((/** @type {{key: string, name: string}} */ one) =>
        element("option", { value: one.key, text: one.name }),
      ),
    );
  };
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

const chart = (/** @type {string} */ id, /** @type {string} */ label) => {
  const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  svg.setAttribute("id", id);
  svg.setAttribute("class", "chart");
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", label);
  return svg;
};

$("main").append(
  element("h1", { text: "Arena" }),
  element("div", { class: "bar", id: "files" }),
  element(
    "div",
    { id: "results", hidden: true },
    element(
      "p",
      { class: "bar" },
      element("progress", { id: "progress", "aria-label": "Games played" }),
      element("span", { id: "state" }),
    ),
    element("div", { class: "scroll" }, element("table", { id: "players", class: "cards" })),
    element(
      "section",
      {},
      element("h2", {}, "Score of ", element("bdi", { id: "scorename" })),
      element("p", { id: "scorenow" }),
      chart("scorechart", "The player's score over the games, with its 95 % interval"),
    ),
    element(
      "section",
      { id: "test", hidden: true },
      element("h2", { text: "Sequential test" }),
      element("p", { id: "verdict" }),
      chart("llrchart", "The logarithm of the likelihood ratio, with its bounds"),
    ),
    element(
      "section",
      { id: "pairs", hidden: true },
      element("h2", { text: "Pairs" }),
      element("p", { id: "pairunit" }),
      element("div", { class: "scroll" }, element("table", { id: "matrix", class: "cards" })),
    ),
    element(
      "section",
      {},
      element("h2", { text: "Games" }),
      element(
        "div",
        { class: "bar" },
        select("who", "Of", [["-1", "everybody"]]),
        select("against", "against", [["-1", "everybody"]]),
        select("ended", "Games", [
          ["", "all"],
          ["lost", "lost by the first one"],
        ]),
      ),
      element("div", { class: "scroll" }, element("table", { id: "games", class: "cards" })),
      element(
        "p",
        { class: "bar" },
        element("button", {
          id: "before",
          type: "button",
          onclick: () => page(places.length > 1 ? places.slice(0, -1) : places),
          text: "Previous",
        }),
        element("span", { id: "count" }),
        element("button", {
          id: "after",
          type: "button",
          onclick: () => following !== null && page([...places, following]),
          text: "Next",
        }),
      ),
    ),
  ),
);
$("results").append(cards.root);
for (const id of ["who", "against", "ended"]) $(id).addEventListener("change", () => page([""]));
new ResizeObserver(draw).observe($("main"));
shown(newArena).then(() => shown(open));
