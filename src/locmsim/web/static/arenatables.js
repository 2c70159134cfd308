// @ts-check
// The tables of a tournament: its players, and the pairs of them.

import { $, button, element, minus, number as digits } from "./dom.js";
import { numberCell, table } from "./matchrows.js";

/** @typedef {{name: string, spec: string, games: number, wins: number, draws: number,
 *   points: number, games_by_seat: number[], wins_by_seat: number[], pairs: number, score: number,
 *   interval: number[], elo: null|{value: number|null, interval: (number|null)[]},
 *   mean_turn_ms: number|null, worst_turn_ms: number|null, late_turns: number,
 *   mean_turn_cpu_ms: number|null, worst_turn_cpu_ms: number|null,
 *   illegal: Record<string, number>, faults: Record<string, number>}} Player */
/** @typedef {{players: string[], won: number, mostly_won: number, split: number,
 *   mostly_lost: number, lost: number, score: number, interval: number[]}} Pairing */
/** @typedef {{elo0: number, elo1: number, llr: number, lower: number, upper: number,
 *   accepted: string|null, pairs: number, verdict: string}} Sprt */
/** @typedef {{version: string, same: boolean, error: string|null, running: boolean, failure: string, path: string, title: string,
 *   turn: string, scored: boolean, watched: boolean, cards: boolean, finished: boolean,
 *   player: number,
 *   results: {settings: {mirror: boolean, mode: string, anchor?: [string, number]|null}, games: number, goal: number,
 *   mean_turns: number|null, players: Player[], pairings: Pairing[], sprt?: Sprt},
 *   score: {games: number[], score: number[], low: number[], high: number[]},
 *   llr: null|{pairs: number[], llr: number[]}}} Results */

/** A share in percent. */
export const tenths = (/** @type {number} */ share) => (100 * share).toFixed(1);
/** An Elo difference with its sign. @param {number|null} elo @param {string} none where there is none */
export const signed = (elo, none) =>
  elo === null ? none : `${elo < 0 ? "\u2212" : "+"}${Math.abs(Math.round(elo))}`;

/** All players, and then each of them, as options of a choice. @param {{name: string}[]} players */
export const everybody = (players) =>
  ["everybody", ...players.map(({ name }) => name)].map(
    (text, i) => /** @type {[string, string]} */ ([String(i - 1), text]),
  );

/** @param {Player} one @param {boolean} anchored whether it is a rating beside a given one */
function eloText(one, anchored) {
  if (one.elo === null || !one.pairs) return "\u2013";
  const [low, high] = one.elo.interval;
  const infinite = one.score > 0.5 ? "+\u221e" : "\u2212\u221e";
  if (anchored)
    return `${minus(Math.round(one.elo.value ?? 0))} [${one.elo.interval.map((end) => minus(Math.round(end ?? 0))).join(", ")}]`;
  const value = signed(one.elo.value, infinite);
  return `${value} [${signed(low, "\u2212\u221e")}, ${signed(high, "+\u221e")}]`;
}

/** @param {number} wins @param {number} games */
const rate = (wins, games) => (games ? tenths(wins / games) : "\u2013");

/** A cell with a sum, which tells its parts. @param {Record<string, number>} counts */
function countsCell(counts) {
  const parts = Object.entries(counts).sort((a, b) => b[1] - a[1]);
  const cell = numberCell(digits(parts.reduce((sum, [, count]) => sum + count, 0)));
  cell.title = parts.map(([what, count]) => `${digits(count)} ${what}`).join(", ");
  return cell;
}

/** @param {Results} results @param {(player: number) => void} pick what a click on one does */
export function drawPlayers(results, pick) {
  const players = results.results.players.map((one, index) => ({ one, index }));
  const strength = (/** @type {Player} */ one) => one.elo?.value ?? one.score;
  // Two players stay in the order in which they were named.
  if (players.length > 2) players.sort((a, b) => strength(b.one) - strength(a.one));
  const drawn = players.some(({ one }) => one.draws);
  const titles = ["player", "played", "wins", ...(drawn ? ["draws"] : [])];
  if (results.scored) titles.push("score");
  titles.push("win %", "first", "second", "95 % interval", "Elo", `ms/${results.turn}`, "worst");
  titles.push(`cpu/${results.turn}`, "worst cpu", "late", "illegal", "faults");
  const rows = players.map(({ one, index }) => {
    const time = (/** @type {number|null} */ ms, /** @type {number} */ places) =>
      numberCell(ms === null ? "\u2013" : ms.toFixed(places));
    const choose = button(".name", element("bdi", one.name), () => pick(index), {
      "aria-pressed": index === results.player,
      title: one.spec,
    });
    return element(
      "tr",
      { "data-player": index },
      element("th", { scope: "row" }, choose),
      numberCell(digits(one.games)),
      numberCell(digits(one.wins)),
      ...(drawn ? [numberCell(digits(one.draws))] : []),
      ...(results.scored
        ? [numberCell(one.games ? minus((one.points / one.games).toFixed(2)) : "\u2013")]
        : []),
      numberCell(rate(one.wins, one.games)),
      numberCell(rate(one.wins_by_seat[0], one.games_by_seat[0])),
      numberCell(rate(one.wins_by_seat[1], one.games_by_seat[1])),
      numberCell(one.pairs ? one.interval.map(tenths).join(" \u2013 ") : "\u2013"),
      numberCell(eloText(one, Boolean(results.results.settings.anchor))),
      time(one.mean_turn_ms, 2),
      time(one.worst_turn_ms, 1),
      time(one.mean_turn_cpu_ms, 2),
      time(one.worst_turn_cpu_ms, 1),
      numberCell(digits(one.late_turns)),
      countsCell(one.illegal),
      countsCell(one.faults),
    );
  });
  table("players", titles, rows);
}

/** @param {Results} results
 * @param {(player: number, other: number) => void} pick what a click on a pair does */
export function drawPairs(results, pick) {
  const { players, pairings, settings } = results.results;
  $("pairs").hidden = players.length < 3;
  if (players.length < 3) return;
  /** @type {Map<string, {score: number, pairs: number, interval: number[]}>} */
  const met = new Map();
  for (const { players: both, score, interval, ...counts } of pairings) {
    const pairs = counts.won + counts.mostly_won + counts.split + counts.mostly_lost + counts.lost;
    if (!pairs) continue;
    const [a, b] = both.map((name) => players.findIndex((one) => one.name === name));
    const mirrored = interval.map((end) => 1 - end).reverse();
    met.set(`${a} ${b}`, { score, pairs, interval });
    met.set(`${b} ${a}`, { score: 1 - score, pairs, interval: mirrored });
  }
  const counted = settings.mirror ? "pairs" : "matches";
  $("pairunit").textContent =
    `Score in percent of the row's player, its 95 % interval, and the ${counted}.`;
  const rows = players.map((one, a) => {
    const cells = players.map((other, b) => {
      const found = met.get(`${a} ${b}`);
      const name = { "data-name": other.name };
      if (a === b) return element("td.none.self.dim", "\u2013");
      if (!found) return element("td.none.dim", { ...name }, "\u2013");
      const cell = element("td", {
        ...name,
        class: found.score >= 0.5 ? "heat" : "heat below",
        title:
          `${one.name} against ${other.name}: ` +
          `${found.interval.map(tenths).join(" to ")} % in ${digits(found.pairs)} ${counted}`,
      });
      cell.style.setProperty("--share", `${90 * Math.abs(found.score - 0.5)}%`);
      const interval = found.interval.map(tenths).join("\u2013");
      const shared = button("", element("b", tenths(found.score)), () => pick(a, b));
      shared.append(` ${interval} (${digits(found.pairs)})`);
      cell.append(shared);
      return cell;
    });
    const name = element("bdi", one.name);
    return element("tr", element("th", { scope: "row" }, name), ...cells);
  });
  table("matrix", ["player", ...players.map((one) => one.name)], rows);
}
