// @ts-check
// Draws cards. Pages import it; a replay file carries it in its one script.

/** @typedef {{row: any[], name: string, title: string, art?: string}} CardData */
/** @typedef {{cards: Record<string, CardData>, badges: Record<string, string[]>,
 *   frames: string[][], numbers: Record<string, [number, number, number, number, string, string]>}} Deck */

const SVG = "http://www.w3.org/2000/svg";
const BOLD = {
  fill: "#fff",
  "text-anchor": "middle",
  "font-weight": "bold",
  "font-family": "Verdana, DejaVu Sans, sans-serif",
};

/** A part of a picture; its text can hold no markup. @param {string} tag
 * @param {Record<string, string|number>} attributes @param {string} [text] */
export function shape(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}

/** What draws the cards of a deck: by key, with what the card has now.
 * @param {Deck} deck */
export function painter(deck) {
  // The pictures are parsed once each; they come from the program that wrote the page.
  /** @type {Record<string, Element>} */
  const pictures = {};
  const parser = new DOMParser();
  for (const [key, card] of Object.entries(deck.cards)) {
    if (!card.art) continue;
    const text = `<svg xmlns="${SVG}" viewBox="0 0 100 140" role="img">${card.art}</svg>`;
    pictures[key] = parser.parseFromString(text, "image/svg+xml").documentElement;
  }

  return draw;

  /** A card with what it has now. @param {string} key @param {number} attack
   * @param {number} defense @param {string} abilities */
  function draw(key, attack, defense, abilities) {
    const [, type, cost, , , , , , , area] = deck.cards[key].row;
    const [frame, dark] = deck.frames[type];
    const svg = /** @type {Element} */ (document.importNode(pictures[key], true));
    const before = svg.firstChild;
    svg.insertBefore(
      shape("rect", { x: 1, y: 1, width: 98, height: 138, rx: 8, fill: dark }),
      before,
    );
    svg.insertBefore(
      shape("rect", { x: 3, y: 3, width: 94, height: 134, rx: 6, fill: frame }),
      before,
    );
    /** A number on its shape. @param {string} name @param {string} text */
    const label = (name, text) => {
      const [x, y, room, most, fill, outline] = deck.numbers[name];
      const size = Math.min(most, room / text.length); // no wider than its shape
      svg.append(shape("path", { d: outline, fill, stroke: "#fff", "stroke-width": 1.5 }));
      svg.append(
        shape("text", { class: name, x, y: y + size * 0.36, "font-size": size, ...BOLD }, text),
      );
    };
    svg.append(shape("rect", { x: 7, y: 93, width: 86, height: 20, rx: 3, fill: dark }));
    const letters = [...abilities].filter((letter) => letter !== "-");
    if (area) letters.push(String(area));
    const gap = Math.min(16, 84 / Math.max(1, letters.length));
    letters.forEach((letter, i) => {
      const [colour, sign] = deck.badges[letter];
      const badge = shape("g", {
        transform: `translate(${42 + gap * (i - (letters.length - 1) / 2)} 95)`,
      });
      badge.append(shape("rect", { width: 16, height: 16, rx: 4, fill: colour }));
      badge.append(
        shape("path", { d: sign, transform: "translate(1 1)", fill: "#fff", "fill-opacity": 0.35 }),
      );
      badge.append(
        shape("text", { class: "ability", x: 8, y: 12.4, "font-size": 12, ...BOLD }, letter),
      );
      svg.append(badge);
    });
    label("cost", String(cost));
    const sign = (/** @type {number} */ value) =>
      ((type === 0 || value <= 0 ? "" : "+") + value).replace("-", "\u2212");
    if (type === 0 || attack) label("attack", sign(attack));
    if (type === 0 || defense) label("defense", sign(defense));
    const title = shape("title", {}, deck.cards[key].title);
    svg.insertBefore(title, svg.firstChild);
    const box = document.createElement("div");
    box.className = "card";
    box.append(svg);
    return box;
  }
}
