// @ts-check
// Remembers in the browser which exercises were solved or tried, by their ids.

import { keep, kept } from "./dom.js";

const PLACE = "locmsim.practice";

/** @returns {Record<string, "solved"|"tried">} */
const known = () => Object(kept("localStorage", PLACE));

/** Remember that an exercise was solved or tried; what was solved once stays so.
 * @param {string} id @param {boolean} solved */
export function mark(id, solved) {
  const all = known();
  if (all[id] !== "solved")
    keep("localStorage", PLACE, { ...all, [id]: solved ? "solved" : "tried" });
}

/** How many of some exercises are solved. @param {string[]} ids */
export function solvedOf(ids) {
  const all = known();
  return ids.filter((id) => all[id] === "solved").length;
}

/** Whether an exercise was tried. @param {string} id */
export const wasTried = (id) => known()[id] !== undefined;
