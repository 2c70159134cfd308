// @ts-check
// Draws a chance of winning over a match. Part of every page and of a replay's file.

import { shape } from "./dom.js";

const WIDTH = 300;
const HEIGHT = 100;

/** Make an empty chart. @param {string} label what it shows @param {string} [id] */
export function chancesChart(label, id) {
  return shape("svg", {
    ...(id ? { id } : {}),
    class: "chances-chart",
    role: "img",
    "aria-label": label,
    viewBox: `0 0 ${WIDTH} ${HEIGHT}`,
    preserveAspectRatio: "none",
  });
}

/** Draw the line of a chance, and bars at the bottom. @param {Element} chart
 * @param {number} last the right end of the chart
 * @param {[number, number][]} points of the line: a place, and a chance from 0 to 1
 * @param {{place: number, height: number, class: string}[]} [bars] */
export function drawChances(chart, last, points, bars = []) {
  const across = (/** @type {number} */ place) => (WIDTH * place) / Math.max(1, last);
  const up = (/** @type {number} */ chance) => HEIGHT * (1 - chance);
  const half = up(0.5);
  chart.replaceChildren(shape("line", { class: "even", x1: 0, x2: WIDTH, y1: half, y2: half }));
  for (const { place, height, class: name } of bars)
    chart.append(
      shape("rect", {
        class: `loss ${name}`,
        x: across(place),
        y: up(height),
        width: Math.max(1, 0.87 * across(1)),
        height: HEIGHT * height,
      }),
    );
  if (points.length < 2) return;
  const line = points.map(([x, y]) => `${across(x).toFixed(1)} ${up(y).toFixed(1)}`).join("L");
  const [left, right] = [points[0][0], points[points.length - 1][0]].map(across);
  const floor = `L${right.toFixed(1)} ${HEIGHT}H${left.toFixed(1)}z`;
  chart.append(
    shape("path", { class: "area", d: `M${line}${floor}` }),
    shape("path", { class: "chance", d: `M${line}` }),
  );
}

/** Mark a place of a chart. @param {Element} chart @param {number} last @param {number} place */
export function markPlace(chart, last, place) {
  const x = ((WIDTH * place) / Math.max(1, last)).toFixed(1);
  chart.querySelector(".now")?.remove();
  chart.append(shape("line", { class: "now", x1: x, x2: x, y1: 0, y2: HEIGHT }));
}
