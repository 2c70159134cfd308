// @ts-check
// The choice of cards in a person's game: a deck from those on offer, or thirty times one of three.

import { painter } from "./cards.js";
import { CurveView } from "./curve.js";
import { button, element, keep, kept, renew, select, textOf, valueOf } from "./dom.js";

/** @typedef {{draft: boolean, offer: string[], chosen: string[], size: number,
 *   copies: number}} Choice */
/** What takes the cards; who tells what a bot would answer, if anybody does; who tells what is wrong;
 * and by what the browser keeps a deck that is not complete.
 * @typedef {{choose: (cards: string[]) => void, hint?: () => Promise<string>,
 *   tell: (text: string) => void, place: string}} Choosing */

/** The cards that an answer takes. @param {string} line @param {string[]} offer
 * @param {import("./cards.js").Deck} deck */
export function takenBy(line, offer, { cards }) {
  const number = (/** @type {string} */ part) => Number(part.trim().split(/\s+/)[1]);
  if (line.startsWith("PICK")) return [offer[number(line)]];
  const byId = new Map(offer.map((key) => [cards[key].row[0], key]));
  return line.split(";").map((part) => byId.get(number(part)) ?? "");
}

export class ChoiceView {
  /** @param {HTMLElement} host @param {import("./cards.js").Deck} deck @param {Choosing} choosing */
  constructor(host, deck, { choose, hint, tell, place }) {
    this.host = host;
    this.deck = deck;
    this.draw = painter(deck);
    this.choose = choose;
    this.tell = tell;
    this.hint = hint;
    this.place = `locmsim.deck.${place}`;
    /** The deck that is being built, and what it was before the last change of all of it.
     * @type {string[]} */
    this.chosen = kept("sessionStorage", this.place) ?? [];
    /** @type {string[]|null} */
    this.before = null;
    /** Show the deck. */
    this.count = () => {};
    this.prompt = element("p.prompt", { "aria-live": "polite" });
  }

  /** @param {Choice} choice @param {HTMLElement} tools */
  show(choice, tools) {
    this.choice = choice;
    this.prompt.textContent = "";
    if (this.hint) tools.prepend(button("#hint", "Hint", () => this.advise()));
    const box = element("div.choosing");
    if (choice.draft) this.draft(box, choice, tools);
    else this.construct(box, choice, tools);
    renew(this.host, box);
  }

  /** A card to click. @param {string} key @param {() => void} onclick @param {number} [place] */
  card(key, onclick, place) {
    return button(".pick", this.draw(key), onclick, { "data-card": key, "data-place": place });
  }

  /** @param {HTMLElement} box @param {Choice} choice @param {HTMLElement} tools */
  draft(box, choice, tools) {
    const offer = element("div#offer.draft");
    choice.offer.forEach((key, place) =>
      offer.append(this.card(key, () => this.choose([key]), place)),
    );
    const curve = new CurveView(this.deck);
    curve.show(choice.chosen, choice.size);
    const title = `Choose a card: ${choice.chosen.length + 1} of ${choice.size}`;
    box.append(element("h1", title), tools, this.prompt, offer, curve.root);
  }

  /** @param {HTMLElement} box @param {Choice} choice @param {HTMLElement} tools */
  construct(box, choice, tools) {
    const curve = new CurveView(this.deck, (key) => {
      this.chosen.splice(this.chosen.lastIndexOf(key), 1);
      count();
    });
    const ready = /** @type {HTMLButtonElement} */ (
      button("#ready.main", "Play with this deck", () => this.choose(this.chosen))
    );
    const offer = element("div#offer.offer");
    /** @type {Map<string, HTMLElement>} */
    const buttons = new Map();
    for (const key of choice.offer) {
      const made = this.card(key, () => {
        const copies = this.chosen.filter((one) => one === key).length;
        if (copies < choice.copies && this.chosen.length < choice.size) this.chosen.push(key);
        else
          this.tell(
            copies < choice.copies ? "The deck is full." : `At most ${choice.copies} of a card.`,
          );
        count();
      });
      made.append(element("span.copies"));
      buttons.set(key, made);
    }
    const count = (this.count = () => {
      keep("sessionStorage", this.place, this.chosen);
      undo.toggleAttribute("disabled", !this.before);
      for (const [key, made] of buttons) {
        const copies = this.chosen.filter((one) => one === key).length;
        const badge = /** @type {HTMLElement} */ (made.querySelector(".copies"));
        badge.textContent = copies ? `\u00d7${copies}` : "";
        made.classList.toggle("picked", copies > 0);
      }
      curve.show(this.chosen, choice.size);
      ready.disabled = this.chosen.length !== choice.size;
    });
    const order = () => {
      const [by, kind] = [valueOf("order"), valueOf("kind")];
      /** @type {Record<string, (row: any[]) => number>} */
      const orders = {
        cost: (row) => row[2],
        attack: (row) => -row[3],
        defense: (row) => -row[4],
        number: (row) => row[0],
      };
      const rowOf = (/** @type {string} */ key) => this.deck.cards[key].row;
      const wanted = choice.offer.filter(
        (key) => !kind || String(Math.min(1, rowOf(key)[1])) === kind,
      );
      wanted.sort((a, b) => orders[by](rowOf(a)) - orders[by](rowOf(b)));
      offer.replaceChildren(...wanted.map((key) => /** @type {HTMLElement} */ (buttons.get(key))));
    };
    const clear = button("#clear", "Clear", () => this.change([]));
    const undo = button("#undo", "Undo", () => this.before && this.change(this.before), {
      title: "Undo the last hint or Clear",
    });
    const byOrder = select("order", "Order by", [
      ["cost", "cost"],
      ["attack", "attack"],
      ["defense", "defense"],
      ["number", "number"],
    ]);
    const byKind = select("kind", "Show", [
      ["", "all"],
      ["0", "creatures"],
      ["1", "items"],
    ]);
    tools.prepend(ready, clear, undo);
    box.append(
      element("h1", `Choose ${choice.size} cards, at most ${choice.copies} of each`),
      tools,
      curve.root,
      element("div.bar", { onchange: order }, byOrder, byKind),
      offer,
    );
    queueMicrotask(order);
    count();
  }

  /** Take another deck; it can be undone. @param {string[]} cards */
  change(cards) {
    this.before = this.chosen;
    this.chosen = cards;
    this.count();
  }

  /** Show what a bot would take. */
  async advise() {
    try {
      const { offer, draft } = /** @type {Choice} */ (this.choice);
      const cards = takenBy((await this.hint?.()) ?? "", offer, this.deck);
      if (!draft) return this.change(cards);
      for (const key of cards)
        this.host.querySelector(`[data-card="${key}"]`)?.classList.add("advised");
      this.prompt.textContent = `The bot would take ${this.deck.cards[cards[0]].title}.`;
    } catch (error) {
      this.tell(textOf(error));
    }
  }
}
