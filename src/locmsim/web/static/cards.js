// @ts-check
// Draws cards: the pictures that the program makes, with what a creature has now.

import { element, minus, shape } from "./dom.js";
import { linesOf } from "./words.js";

/** @typedef {{row: any[], title: string, about: string, svg?: string}} CardData */
/** @typedef {{cards: Record<string, CardData>, badges: Record<string, string>,
 *   numbers: Record<string, [number, number, number]>}} Deck */
/** @typedef {(key: string, attack?: number, defense?: number, abilities?: string) => HTMLElement} Draw */

/** Elements of a picture that the program made. @param {string} text */
export function parsed(text) {
  const root = `<svg xmlns="http://www.w3.org/2000/svg">${text}</svg>`;
  return new DOMParser().parseFromString(root, "image/svg+xml").documentElement;
}

/** What a card looks like of which a page has no picture: its numbers, on the color of its kind.
 * @param {any[]} row @param {Deck} deck */
function plain([, type, cost, attack, defense], { numbers }) {
  const color = ["#8a6a3a", "#2f7d3b", "#9c3030", "#2f5fa5"][type];
  const texts = [
    ["cost", 16, cost],
    ["attack", 21, attack],
    ["defense", 79, defense],
  ].map(([name, x, value]) => {
    const [y, , size] = numbers[name];
    const font = 'fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-weight="bold"';
    return (
      `<text class="${name}" x="${x}" y="${(y + size * 0.36).toFixed(1)}" font-size="${size}"` +
      ` text-anchor="middle" ${font}>${minus(value)}</text>`
    );
  });
  return (
    '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 100 140" role="img" class="locm-card">' +
    `<rect x="3" y="3" width="94" height="134" rx="6" fill="${color}"/>` +
    `<g class="keywords"/>${texts.join("")}</svg>`
  );
}

/** Return a function that draws the cards of a deck, as printed or with what a creature has now.
 * @param {Deck} deck @returns {Draw} */
export function painter(deck) {
  // The pictures are parsed once each.
  /** @type {Map<string, Element>} */
  const pictures = new Map();
  /** @type {Map<string, Element>} */
  const badges = new Map();

  /** @param {Element} svg @param {string} name @param {number} value */
  function write(svg, name, value) {
    const text = svg.querySelector(`text.${name}`);
    if (!text) return;
    const [y, width, most] = deck.numbers[name];
    const words = minus(value);
    const size = Math.min(most, width / words.length); // no wider than its shape
    text.textContent = words;
    text.setAttribute("font-size", size.toFixed(1));
    text.setAttribute("y", (y + size * 0.36).toFixed(1));
  }

  /** @param {Element} svg @param {string[]} letters */
  function mark(svg, letters) {
    const size = Math.min(16, 84 / Math.max(1, letters.length));
    const start = 50 - (size * letters.length) / 2;
    const row = letters.map((letter, i) => {
      const known = badges.get(letter) ?? parsed(deck.badges[letter]);
      badges.set(letter, known);
      const place = `translate(${start + size * i} ${101 - size / 2}) scale(${size / 16})`;
      const badge = shape("g", { transform: place });
      for (const part of known.childNodes) badge.append(document.importNode(part, true));
      return badge;
    });
    svg.querySelector(".keywords")?.replaceChildren(...row);
  }

  /** @param {string} abilities @param {number} area */
  function lettersOf(abilities, area) {
    const letters = [...abilities].filter((letter) => letter !== "-");
    return area ? [...letters, String(area)] : letters;
  }

  return (key, attack, defense, abilities) => {
    const { row, title, about, svg: text } = deck.cards[key];
    const drawn = text ?? plain(row, deck);
    const known = pictures.get(key) ?? /** @type {Element} */ (parsed(drawn).firstChild);
    pictures.set(key, known);
    const svg = /** @type {Element} */ (document.importNode(known, true));
    if (text === undefined) mark(svg, lettersOf(abilities ?? row[5], row[9]));
    if (attack !== undefined && attack !== row[3]) write(svg, "attack", attack);
    if (defense !== undefined && defense !== row[4]) write(svg, "defense", defense);
    if (abilities !== undefined && abilities !== row[5]) {
      mark(svg, lettersOf(abilities, row[9]));
    }
    const now = [attack ?? row[3], defense ?? row[4], abilities ?? row[5]];
    const changed = now.some((value, i) => value !== row[3 + i]);
    const words = changed ? `; now attack ${now[0]}, defense ${now[1]}, abilities ${now[2]}` : "";
    svg.prepend(shape("title", {}, about + words));
    const [nowAttack, nowDefense, nowAbilities] = now;
    const lines = linesOf(title, row, nowAttack, nowDefense, nowAbilities);
    return element("div.card", { "data-about": lines.join("\n") }, svg);
  };
}
