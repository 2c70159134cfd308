// @ts-check
// What is on a card, in words: keywords, areas, effects.

import { minus, signed } from "./dom.js";

/** Letter, name and meaning of keywords and areas. @type {[string, string, string][]} */
export const WORDS = [
  ["B", "Breakthrough", "damage beyond what kills the defender hits its player"],
  ["C", "Charge", "attacks in the turn in which it is summoned"],
  ["D", "Drain", "its player gains as much health as it deals in damage"],
  ["G", "Guard", "must be attacked before other creatures in its lane and its player"],
  ["L", "Lethal", "destroys any creature that it damages"],
  ["W", "Ward", "ignores the first damage dealt to it"],
  ["1", "One lane", "a creature comes with a copy in its lane; an item affects the whole lane"],
  ["2", "Both lanes", "a creature comes with a copy in the other lane; an item affects both lanes"],
];
const KINDS = ["creature", "green item", "red item", "blue item"];

/** What a card says, a line for each thing; a creature may have other numbers and keywords now.
 * @param {string} title @param {any[]} row as of `Card.to_row` @param {number} attack
 * @param {number} defense @param {string} abilities */
export function linesOf(title, row, attack, defense, abilities) {
  const [, kind, cost, , , printed, mine, theirs, drawn, area] = row;
  const show = kind ? signed : minus;
  const lines = [title, `${KINDS[kind]}, cost ${cost}`];
  lines.push(`attack ${show(attack)}, defense ${show(defense)}`);
  if (attack !== row[3] || defense !== row[4] || abilities !== printed)
    lines.push(`printed: attack ${show(row[3])}, defense ${show(row[4])}`);
  for (const [letter, name, means] of WORDS)
    if (abilities.includes(letter) || letter === String(area)) lines.push(`${name}: ${means}`);
  if (mine) lines.push(`your health ${signed(mine)}`);
  if (theirs) lines.push(`the opponent\u2019s health ${signed(theirs)}`);
  if (drawn) lines.push(`draws ${drawn} more next turn`);
  return lines;
}
