// @ts-check
// A deck: its mana curve, its counts and its cards. Part of every page and of a replay's file.

import { button, counted, element } from "./dom.js";

const COSTS = 13;

/** The mana curve of some cards: a bar for each cost. @param {readonly any[][]} rows as of
 * `Card.to_row` */
export function manaCurve(rows) {
  const costs = Array(COSTS).fill(0);
  for (const row of rows) costs[Math.min(COSTS - 1, row[2])] += 1;
  const most = Math.max(1, ...costs);
  const label = `Cards by cost: ${costs.join(", ")}`;
  const curve = element("div.curve", { role: "img", "aria-label": label });
  costs.forEach((/** @type {number} */ count, cost) => {
    const name = cost === COSTS - 1 ? `${cost}+` : String(cost);
    const bar = element("i", {
      "data-cost": name,
      title: `${counted(count, "card")} of cost ${name}`,
    });
    bar.style.setProperty("height", `${(100 * count) / most}%`);
    curve.append(bar);
  });
  return curve;
}

/** Different cards in order of their costs, each with the number of its copies.
 * @param {readonly string[]} keys @param {import("./cards.js").Deck} deck */
export function copiesOf(keys, deck) {
  /** @type {Map<string, number>} */
  const copies = new Map();
  for (const key of keys) copies.set(key, (copies.get(key) ?? 0) + 1);
  return [...copies].sort(([a], [b]) => deck.cards[a].row[2] - deck.cards[b].row[2]);
}

export class CurveView {
  /** @param {import("./cards.js").Deck} deck
   * @param {(key: string) => void} [remove] what a click on a card does */
  constructor(deck, remove) {
    this.deck = deck;
    this.remove = remove;
    this.root = element("section#deck.panel", { "aria-label": "Deck" });
  }

  /** @param {readonly string[]} cards keys @param {number} size of a whole deck */
  show(cards, size) {
    const rows = cards.map((key) => this.deck.cards[key].row);
    const creatures = rows.filter((row) => row[1] === 0).length;
    const list = element("ul.list.plain.small");
    for (const [key, count] of copiesOf(cards, this.deck)) {
      const { title: name, about: title, row } = this.deck.cards[key];
      const text = `${count} \u00d7 ${name} (${row[2]})`;
      list.append(
        element(
          "li",
          { title },
          this.remove
            ? button("", text, () => this.remove?.(key), { "aria-label": `Take out ${text}` })
            : text,
        ),
      );
    }
    const kinds = [counted(creatures, "creature"), counted(rows.length - creatures, "item")];
    const counts = `${cards.length} of ${size}: ${kinds.join(", ")}`;
    this.root.replaceChildren(element("p#counts", counts), manaCurve(rows), list);
  }
}
