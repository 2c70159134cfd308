// @ts-check
// The charts of a tournament: a player's score over the matches, and the sequential test.

import { signed, tenths } from "./arenatables.js";
import { drawChart } from "./chart.js";
import { $, minus, number as digits } from "./dom.js";

/** @typedef {import("./arenatables.js").Results} Results */

/** The score of the player who is chosen. @param {Results} results */
export function drawScore(results) {
  const { score } = results;
  const one = results.results.players[results.player];
  $("scorename").textContent = one.name;
  $("scorenow").textContent = one.pairs
    ? `${tenths(one.score)} % after ${digits(score.games.at(-1) ?? 0)} matches, 95 % interval ` +
      `${one.interval.map(tenths).join(" to ")} %`
    : "no results yet";
  // The first matches prove so little that their band would fill the picture.
  const later = Math.floor(score.games.length / 10);
  const low = Math.min(0.45, ...score.low.slice(later), ...score.score.slice(later));
  const high = Math.max(0.55, ...score.high.slice(later), ...score.score.slice(later));
  drawChart($("scorechart"), {
    x: score.games,
    y: score.score,
    low: score.low,
    high: score.high,
    lines: [{ y: 0.5, class: "mark" }],
    bottom: Math.max(0, low - 0.02),
    top: Math.min(1, high + 0.02),
    axes: { unit: "matches", tick: (value) => `${Math.round(100 * value)} %` },
  });
}

/** The sequential test, if there is one. @param {Results} results */
export function drawTest(results) {
  const { sprt, settings } = results.results;
  $("test").hidden = !sprt || !results.llr;
  if (!sprt || !results.llr) return;
  const counted = settings.mirror ? "pairs" : "matches";
  const elo = (/** @type {number} */ value) => signed(value, "");
  $("verdict").textContent =
    `${sprt.verdict} after ${digits(sprt.pairs)} ${counted} ` +
    `(SPRT of Elo ${elo(sprt.elo0)} against ${elo(sprt.elo1)}, LLR ${minus(sprt.llr.toFixed(2))}, ` +
    `bounds ${minus(sprt.lower.toFixed(2))} and ${sprt.upper.toFixed(2)})`;
  const { pairs, llr } = results.llr;
  const most = Math.max(sprt.upper, ...llr);
  const least = Math.min(sprt.lower, ...llr);
  const margin = (most - least) / 10;
  drawChart($("llrchart"), {
    x: pairs,
    y: llr,
    lines: [
      { y: sprt.upper, text: `H1: ${sprt.upper.toFixed(2)}`, class: "bound" },
      { y: sprt.lower, text: `H0: ${minus(sprt.lower.toFixed(2))}`, class: "bound" },
    ],
    bottom: least - margin,
    top: most + margin,
    axes: { unit: counted, tick: (value) => minus(value.toFixed(1)) },
  });
}
