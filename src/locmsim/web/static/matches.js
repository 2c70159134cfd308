// @ts-check
// What lists of matches have in common: players, faults, links, and the part that is shown.

import { $, element, number } from "./dom.js";
import { address } from "./site.js";

/** A cell with two names, the winner's marked. @param {string[]} names @param {number|null} winner */
export function playersCell(names, winner) {
  const [first, second] = names.map((text, seat) =>
    element("bdi", { class: `p${seat}${seat === winner ? " won" : ""}`, text }),
  );
  return element("td", {}, first, " \u2013 ", second);
}

/** A cell with a fault, if there was one.
 * @param {null|{name: string, kind: string, message?: string}} fault */
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

const PANELS = { watch: "", live: "", paused: "", analyse: "#engine", report: "#report" };

/** A cell with links to a match. @param {string} game its key
 * @param {(keyof typeof PANELS)[]} [what] what there is to see */
export function linksCell(game, what = ["watch", "analyse", "report"]) {
  const there = address(`/game/${game}`);
  const links = what.map((text) => element("a", { href: `${there}${PANELS[text]}`, text }));
  return element("td", { class: "links" }, ...links.flatMap((link) => [link, " "]));
}

/** Say which part of a list is shown, and let the person go on or back.
 * @param {number} start @param {number} count of the rows that are shown
 * @param {boolean} more whether others follow */
export function showPart(start, count, more) {
  const end = start + count;
  const all = more ? `more than ${number(end)}` : number(end);
  $("count").textContent = count ? `${number(start + 1)} to ${number(end)} of ${all}` : "no games";
  /** @type {HTMLButtonElement} */ ($("before")).disabled = start === 0;
  /** @type {HTMLButtonElement} */ ($("after")).disabled = !more;
}
