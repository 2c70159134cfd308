// @ts-check
// Draws curves as SVG, at the size that the page gives them.

import { number, shape } from "./dom.js";

const LEFT = 44;
const BOTTOM = 24;
const TOP = 8;
const RIGHT = 10;

/** @typedef {{x: number[], y: number[], low?: number[], high?: number[],
 *   lines: {y: number, text: string, class?: string}[], bottom: number, top: number,
 *   unit: string, tick: (value: number) => string}} Curve */

/** A round number of which about `count` make the span. @param {number} span
 * @param {number} count */
function step(span, count) {
  const rough = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((f) => f * power >= rough) ?? 10;
  return factor * power;
}

/** Draw a curve into an SVG element: its band, lines across with their texts, axes.
 * @param {Element} svg @param {Curve} curve */
export function drawCurve(svg, curve) {
  const box = svg.getBoundingClientRect();
  const width = Math.max(200, box.width);
  const height = Math.max(120, box.height);
  svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
  svg.replaceChildren();
  const last = curve.x.at(-1) ?? 1;
  const span = curve.top - curve.bottom;
  const across = (/** @type {number} */ x) => LEFT + ((width - LEFT - RIGHT) * x) / last;
  const up = (/** @type {number} */ y) => {
    const share = Math.min(1, Math.max(0, (y - curve.bottom) / span));
    return TOP + (height - TOP - BOTTOM) * (1 - share);
  };
  const point = (/** @type {number} */ x, /** @type {number} */ y) =>
    `${across(x).toFixed(1)} ${up(y).toFixed(1)}`;
  const vertical = step(span, height / 50);
  for (let y = Math.ceil(curve.bottom / vertical) * vertical; y <= curve.top; y += vertical) {
    svg.append(
      shape("line", { class: "grid", x1: LEFT, x2: width - RIGHT, y1: up(y), y2: up(y) }),
      shape("text", { x: LEFT - 6, y: up(y) + 4, "text-anchor": "end" }, curve.tick(y)),
    );
  }
  const horizontal = Math.max(1, step(last, (width - LEFT) / 90));
  for (let x = 0; x <= last; x += horizontal) {
    const anchor = across(x) > width - 40 ? "end" : "middle";
    svg.append(shape("text", { x: across(x), y: height - 8, "text-anchor": anchor }, number(x)));
  }
  const { low, high } = curve;
  if (low && high && curve.x.length) {
    const there = curve.x.map((x, i) => point(x, high[i]));
    const back = curve.x.map((x, i) => point(x, low[i])).reverse();
    svg.append(shape("path", { class: "band", d: `M${[...there, ...back].join("L")}Z` }));
  }
  for (const line of curve.lines) {
    const y = up(line.y);
    svg.append(
      shape("line", { class: line.class ?? "mark", x1: LEFT, x2: width - RIGHT, y1: y, y2: y }),
      shape("text", { x: LEFT + 4, y: y - 4 }, line.text),
    );
  }
  if (curve.x.length) {
    const d = `M${curve.x.map((x, i) => point(x, curve.y[i])).join("L")}`;
    svg.append(shape("path", { class: "value", d }));
    const end = { cx: across(last), cy: up(curve.y.at(-1) ?? 0), r: 3.5, class: "dot" };
    svg.append(shape("circle", end));
  }
  svg.append(shape("text", { x: LEFT - 8, y: height - 8, "text-anchor": "end" }, curve.unit));
}
