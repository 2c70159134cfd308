// @ts-check
// Remembers in the browser which exercises were solved or tried, by their ids.

const PLACE = "locmsim.practice";

/** @returns {Record<string, "solved"|"tried">} */
function kept() {
  try {
    const found = JSON.parse(localStorage.getItem(PLACE) ?? "{}");
    return found && typeof found === "object" ? found : {};
  } catch {
    return {}; // the browser keeps nothing, or something else wrote there
  }
}

/** Remember that an exercise was solved or tried; what was solved once stays so.
 * @param {string} id @param {boolean} solved */
export function mark(id, solved) {
  const all = kept();
  if (all[id] === "solved") return;
  all[id] = solved ? "solved" : "tried";
  try {
    localStorage.setItem(PLACE, JSON.stringify(all));
  } catch {
    // Progress lasts as long as the page.
  }
}

/** How many of some exercises are solved. @param {string[]} ids */
export function solvedOf(ids) {
  const all = kept();
  return ids.filter((id) => all[id] === "solved").length;
}

/** Whether an exercise was tried. @param {string} id */
export const wasTried = (id) => kept()[id] !== undefined;
