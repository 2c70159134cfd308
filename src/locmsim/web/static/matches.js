// @ts-check
// What lists of matches have in common: who played, what went wrong, where to look, which part of all.

import { $, element, number } from "./dom.js";
import { address } from "./site.js";

/** Two names, the winner's marked. @param {string[]} names @param {number|null} winner */
export function playersCell(names, winner) {
  const [first, second] = names.map((text, seat) =>
    element("bdi", { class: `p${seat}${seat === winner ? " won" : ""}`, text }),
  );
  return element("td", {}, first, " \u2013 ", second);
}

/** A fault, if there was one. @param {null|{name: string, kind: string, message?: string}} fault */
export function faultCell(fault) {
  if (!fault) return element("td");
  const { name, kind, message: title } = fault;
  return element(
    "td",
    { title },
    element("bdi", { text: name }),
    ": ",
    element("bdi", { text: kind }),
  );
}

/** Links to a match. @param {string} game its key */
export function linksCell(game) {
  const there = address(`/game/${game}`);
  return element(
    "td",
    { class: "links" },
    element("a", { href: there, text: "watch" }),
    " ",
    element("a", { href: `${there}#engine`, text: "analyse" }),
    " ",
    element("a", { href: `${there}#report`, text: "report" }),
  );
}

/** Which of them are shown. @param {number} start @param {number} count @param {number} total */
export function showPart(start, count, total) {
  const last = Math.min(start + count, total);
  $("count").textContent = total
    ? `${number(start + 1)} to ${number(last)} of ${number(total)}`
    : "no games";
  /** @type {HTMLButtonElement} */ ($("before")).disabled = start === 0;
  /** @type {HTMLButtonElement} */ ($("after")).disabled = last >= total;
}
