// @ts-check
// A deck: its mana curve, its counts and its cards.

import { element } from "./dom.js";

const COSTS = 13;

export class CurveView {
  /** @param {import("./cards.js").Deck} deck
   * @param {(key: string) => void} [remove] what a click on a card does */
  constructor(deck, remove) {
    this.deck = deck;
    this.remove = remove;
    this.root = element("section", { id: "deck", class: "panel", "aria-label": "Deck" });
  }

  /** @param {readonly string[]} cards keys @param {number} size of a whole deck */
  show(cards, size) {
    const rows = cards.map((key) => this.deck.cards[key].row);
    const creatures = rows.filter((row) => row[1] === 0).length;
    const costs = Array(COSTS).fill(0);
    for (const row of rows) costs[Math.min(COSTS - 1, row[2])] += 1;
    const most = Math.max(1, ...costs);
    const curve = element("div", { class: "curve", role: "img", "aria-label": "Cards by cost" });
    costs.forEach((count, cost) => {
      const bar = element("i", { title: `${count} of cost ${cost}`, "data-count": count });
      bar.style.height = `${(100 * count) / most}%`;
      const name = cost === COSTS - 1 ? `${cost}+` : String(cost);
      curve.append(element("div", {}, bar, element("small", { text: name })));
    });
    /** @type {Map<string, number>} */
    const copies = new Map();
    for (const key of cards) copies.set(key, (copies.get(key) ?? 0) + 1);
    const list = element("ul", { class: "list" });
    const cost = (/** @type {string} */ key) => this.deck.cards[key].row[2];
    for (const [key, count] of [...copies].sort((a, b) => cost(a[0]) - cost(b[0]))) {
      const text = `${count} \u00d7 ${this.deck.cards[key].title} (${cost(key)})`;
      const title = this.deck.cards[key].about;
      list.append(
        element(
          "li",
          { title },
          this.remove
            ? element("button", {
                text,
                "aria-label": `Take out ${text}`,
                onclick: () => this.remove?.(key),
              })
            : text,
        ),
      );
    }
    const counts = `${cards.length} of ${size}: ${creatures} creatures, ${rows.length - creatures} items`;
    this.root.replaceChildren(element("p", { id: "counts", text: counts }), curve, list);
  }
}
