// @ts-check
// The page Tuning: the values of each parameter over the games, while they are played.

import { chartOf, drawChart } from "./chart.js";
import { $, element, minus, number, percent } from "./dom.js";
import { follow } from "./follow.js";
import { ask, notice, shown } from "./site.js";

/** @typedef {{name: string, value: string, games: number[], values: number[]}} Parameter */
/** @typedef {{folder: string, error: string|null, player: string, against: string[],
 *   method: string, games: number, goal: number, score: number[]|null,
 *   parameters: Parameter[]}} Run */

/** What the present values gain. @param {Run} run */
function gain(run) {
  if (!run.score) return "no games against the start yet";
  // Against opponents one half stands for a gain of nothing.
  const share = run.against.length
    ? (/** @type {number} */ x) => 2 * x - 1
    : (/** @type {number} */ x) => x;
  const [low, high] = run.score.map((x) => minus(percent(share(x))));
  return run.against.length
    ? `the present values win ${low} to ${high} more of the games than the start`
    : `the present values win ${low} to ${high} of the games against the start`;
}

/** @param {Run} run */
function section(run) {
  const made = element("section", element("h2", run.folder));
  if (run.error !== null) {
    made.append(element("p", run.error));
    return made;
  }
  made.append(
    element("p", element("code", run.player)),
    element(
      "p",
      `${number(run.games)} of about ${number(run.goal)} games by ${run.method}; ${gain(run)}`,
    ),
  );
  for (const one of run.parameters) {
    const label = `${one.name} over ${number(run.games)} games, now ${one.value}`;
    made.append(element("h3", `${one.name} = ${one.value}`), chartOf(label));
  }
  return made;
}

/** @param {Element} svg @param {Parameter} one */
function draw(svg, one) {
  let [bottom, top] = [Math.min(...one.values), Math.max(...one.values)];
  if (bottom === top) [bottom, top] = [bottom - 1, top + 1];
  const tick = (/** @type {number} */ value) => String(Number(value.toPrecision(3)));
  const x = one.games.length > 1 ? one.games : [0, 1];
  const y = one.games.length > 1 ? one.values : [one.values[0], one.values[0]];
  drawChart(svg, { x, y, bottom, top, axes: { unit: "games", tick } });
}

async function update() {
  const { runs } = /** @type {{runs: Run[]}} */ (await ask("/api/optimize"));
  notice();
  $("main").replaceChildren(element("h1", "Tuning"), ...runs.map(section));
  const pictures = document.querySelectorAll("svg.chart");
  runs.flatMap((run) => run.parameters ?? []).forEach((one, i) => draw(pictures[i], one));
}

follow("optimize", () => shown(update));
