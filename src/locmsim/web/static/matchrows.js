// @ts-check
// What lists of matches have in common: players, faults, links, and the part that is shown.

import { $, attempt, button, element, number } from "./dom.js";
import { address } from "./site.js";

/** @typedef {{key: string, source: string, number: number|string|null, names: string[],
 *   winner: number|null, fault: null|{player: number, kind: string, message: string},
 *   turns: number, rules: string|null, game: string, live: "live"|"paused"|""}} ListedMatch */

/** A cell with two names, the winner's marked. @param {string[]} names @param {number|null} winner */
export function playersCell(names, winner) {
  const [first, second] = names.map((text, seat) =>
    element("bdi", { class: `p${seat}${seat === winner ? " won" : ""}` }, text),
  );
  return element("td", first, " \u2013 ", second);
}

/** A cell with a fault, if there was one.
 * @param {null|{name: string, kind: string, message?: string}} fault */
function faultCell(fault) {
  if (!fault) return element("td");
  const { name, kind, message: title } = fault;
  return element("td", { title }, element("bdi", name), ": ", element("bdi", kind));
}

const PANELS = { watch: "", live: "", paused: "", analyse: "#engine", report: "#report" };

/** A cell with links to a match. @param {string} key its key
 * @param {(keyof typeof PANELS)[]} [what] what there is to see */
function linksCell(key, what = ["watch", "analyse", "report"]) {
  const there = address(`/match/${key}`);
  const links = what.map((text) => element("a", { href: `${there}${PANELS[text]}` }, text));
  return element("td.links", ...links.flatMap((link) => [link, " "]));
}

/** A row of a list of matches. @param {ListedMatch} match @param {HTMLElement} name a cell with what it is called
 * @param {(Node|string)[]} more cells behind the players
 * @param {(keyof typeof PANELS)[]|null} [open] what there is to see of it; null: no such cell */
export function matchRow(match, name, more = [], open) {
  const { fault, names } = match;
  return element(
    "tr",
    { "data-key": match.key },
    name,
    playersCell(names, match.winner),
    ...more,
    numberCell(number(match.turns)),
    faultCell(fault && { ...fault, name: names[fault.player] }),
    open === null ? "" : linksCell(match.key, open),
  );
}

/** A cell with a number, or with what tells of one. @param {string|number} text */
export const numberCell = (text) => element("td.number", text);

/** Fill a table; on a phone each row is a card, and its numbers have their names beside them.
 * @param {string} id @param {string[]} titles @param {HTMLElement[]} rows
 * @param {(title: string, properties: Record<string, any>) => HTMLElement} [head] makes the cell
 * over a column */
export function table(
  id,
  titles,
  rows,
  head = (title, properties) => element("th", properties, title),
) {
  for (const row of rows)
    [...row.children].forEach((cell, i) => {
      if (cell.matches("td.number")) cell.setAttribute("data-name", titles[i]);
    });
  const heads = titles.map((title, i) => {
    const isNumber = rows[0]?.children[i]?.matches("td.number");
    return head(title, { scope: "col", class: isNumber ? "number" : null });
  });
  $(id).replaceChildren(element("thead", element("tr", ...heads)), element("tbody", ...rows));
}

/** A part of a list, and where the next one begins.
 * @typedef {{titles: string[], rows: HTMLElement[], next: string|number|null}} Part */

/** A list of matches, of which a part is shown. */
export class MatchList {
  /** @param {string} id of the table @param {number} size of a part
   * @param {(place: string|number) => Promise<Part|null>} load the part that begins there */
  constructor(id, size, load) {
    this.id = id;
    this.size = size;
    this.load = load;
    /** Where this part begins, and the ones before it. @type {(string|number)[]} */
    this.places = [""];
    /** Where the next one does. @type {string|number|null} */
    this.next = null;
    /** How often a part was asked for: only the last answer is shown. */
    this.asked = 0;
    this.count = element("span#count", { "aria-live": "polite" });
    this.before = button("#before", "Previous", () => this.show(this.places.slice(0, -1)));
    this.after = button("#after", "Next", () => this.show([...this.places, this.next ?? ""]));
    this.root = element(
      "div",
      element("div.scroll", element(`table#${id}.matches.cards`)),
      element("p.bar", this.before, this.count, this.after),
    );
  }

  /** Begin with the first part again, whatever is being asked. */
  forget() {
    this.places = [""];
    this.asked += 1;
  }

  /** Show another part. @param {(string|number)[]} [places] */
  show(places = [""]) {
    this.places = places;
    return attempt(() => this.list());
  }

  async list() {
    const question = ++this.asked;
    const part = await this.load(this.places[this.places.length - 1]);
    if (!part || question !== this.asked) return;
    const { titles, rows, next } = part;
    this.next = next;
    table(this.id, titles, rows);
    const start = this.size * (this.places.length - 1);
    const end = start + rows.length;
    const all = next === null ? number(end) : `more than ${number(end)}`;
    this.count.textContent = rows.length
      ? `${number(start + 1)} to ${number(end)} of ${all}`
      : "no matches";
    this.before.toggleAttribute("disabled", start === 0);
    this.after.toggleAttribute("disabled", next === null);
  }
}
