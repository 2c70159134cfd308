// @ts-check
// Draws a line as SVG: a value over a match, or a curve between axes. Part of every page
// and of a replay's file.

import { number, shape } from "./dom.js";

/** What says what a curve counts, and writes its values.
 * @typedef {{unit: string, tick: (value: number) => string}} Axes */
/** Points from the left, and what is around them: a band, bars at the bottom, lines across. The left
 * end of a chart is 0. @typedef {{x: number[], y: number[], bottom: number, top: number,
 *   last?: number, low?: number[], high?: number[],
 *   bars?: {x: number, height: number, class: string}[],
 *   lines?: {y: number, text?: string, class: string}[], axes?: Axes}} Chart */

/** What a chart without axes is drawn in, whatever size the page gives it. */
const STRETCHED = { width: 300, height: 100, left: 0, right: 0, top: 0, bottom: 0 };

/** Make an empty chart. @param {string} label what it shows @param {string} [id] */
export const chartOf = (label, id) =>
  shape("svg", { ...(id ? { id } : {}), class: "chart", role: "img", "aria-label": label });

/** The size of a chart, and its margins. @param {Element} svg @param {Axes|undefined} axes */
function frameOf(svg, axes) {
  if (!axes) return STRETCHED;
  const { width, height } = svg.getBoundingClientRect();
  const margins = { left: 60, right: 10, top: 8, bottom: 24 };
  return { width: Math.max(200, width), height: Math.max(120, height), ...margins };
}

/** A round number of which about `count` make the span. @param {number} span
 * @param {number} count */
function roundStep(span, count) {
  const rough = span / Math.max(1, count);
  const power = 10 ** Math.floor(Math.log10(rough));
  const factor = [1, 2, 5, 10].find((f) => f * power >= rough) ?? 10;
  return factor * power;
}

/** Draw a chart into an element of `chartOf`. @param {Element} svg @param {Chart} chart */
export function drawChart(svg, chart) {
  const { x, y, bottom, top, low, high, bars = [], lines = [], axes } = chart;
  const frame = frameOf(svg, axes);
  const [left, right] = [frame.left, frame.width - frame.right];
  const last = Math.max(1, chart.last ?? x.at(-1) ?? 1);
  const across = (/** @type {number} */ value) => left + ((right - left) * value) / last;
  const up = (/** @type {number} */ value) => {
    const share = Math.min(1, Math.max(0, (value - bottom) / (top - bottom)));
    return frame.top + (frame.height - frame.top - frame.bottom) * (1 - share);
  };
  /** @param {number[]} values */
  const points = (values) =>
    x.map((at, i) => `${across(at).toFixed(1)} ${up(values[i]).toFixed(1)}`);
  /** @param {number} at @param {string} name */
  const level = (at, name) =>
    svg.append(shape("line", { class: name, x1: left, x2: right, y1: up(at), y2: up(at) }));
  svg.setAttribute("viewBox", `0 0 ${frame.width} ${frame.height}`);
  svg.setAttribute("preserveAspectRatio", axes ? "xMidYMid" : "none");
  svg.replaceChildren();
  if (axes) {
    const vertical = roundStep(top - bottom, frame.height / 50);
    for (let at = Math.ceil(bottom / vertical) * vertical; at <= top; at += vertical) {
      level(at, "grid");
      const place = { x: left - 6, y: up(at) + 4, "text-anchor": "end" };
      svg.append(shape("text", place, axes.tick(at)));
    }
    const horizontal = Math.max(1, roundStep(last, (frame.width - left) / 90));
    for (let at = 0; at <= last; at += horizontal) {
      const anchor = across(at) > frame.width - 40 ? "end" : "middle";
      const place = { x: across(at), y: frame.height - 8, "text-anchor": anchor };
      svg.append(shape("text", place, number(at)));
    }
    const place = { x: left - 8, y: frame.height - 8, "text-anchor": "end" };
    svg.append(shape("text", place, axes.unit));
  }
  if (low && high && x.length > 1) {
    const around = [...points(high), ...points(low).reverse()];
    svg.append(shape("path", { class: "band", d: `M${around.join("L")}Z` }));
  }
  for (const line of lines) {
    level(line.y, line.class);
    if (line.text) svg.append(shape("text", { x: left + 4, y: up(line.y) - 4 }, line.text));
  }
  for (const bar of bars) {
    const width = Math.max(1, 0.87 * (across(1) - left));
    const place = {
      x: across(bar.x),
      y: up(bar.height),
      width,
      height: up(bottom) - up(bar.height),
    };
    svg.append(shape("rect", { class: `column ${bar.class}`, ...place }));
  }
  if (x.length > 1) svg.append(shape("path", { class: "value", d: `M${points(y).join("L")}` }));
  if (axes && x.length) {
    const end = { cx: across(x[x.length - 1]), cy: up(y[y.length - 1]), r: 3.5, class: "dot" };
    svg.append(shape("circle", end));
  }
}

/** Mark a place of a chart without axes. @param {Element} svg @param {number} last
 * @param {number} place */
export function markPlace(svg, last, place) {
  const x = ((STRETCHED.width * place) / Math.max(1, last)).toFixed(1);
  svg.querySelector(".now")?.remove();
  svg.append(shape("line", { class: "now", x1: x, x2: x, y1: 0, y2: STRETCHED.height }));
}
