// @ts-check
// Help where it is needed: a legend of keywords, areas and badges, the rules in short, and keys.

import { $, element, shape } from "./dom.js";
import { ask, shown } from "./site.js";
import { KEYS } from "./viewer.js";

/** @type {[string, string, string][]} */
const WORDS = [
  ["B", "Breakthrough", "damage that is more than a defender has goes on to its player"],
  ["C", "Charge", "attacks in the turn in which it is summoned"],
  ["D", "Drain", "its player gains as much health as it deals damage"],
  ["G", "Guard", "must be attacked before the others of its lane and its player"],
  ["L", "Lethal", "destroys any creature that it damages"],
  ["W", "Ward", "the first damage to it is ignored"],
  ["1", "One lane", "a creature is summoned twice to its lane, an item affects the whole lane"],
  ["2", "Both lanes", "a creature is summoned to each lane, an item affects both lanes"],
];
/** @type {[string, string][]} */
const MORE = [
  ["top left", "what it costs, in mana"],
  ["bottom left and right", "attack and defense; of an item, how much it changes them"],
  ["heart", "changes your health"],
  ["skull", "changes the opponent\u2019s health"],
  ["cards", "draws so many more next turn"],
];
/** What differs by rule set. @type {Record<string, string[]>} */
const RULES = {
  1.5: [
    "Both choose 30 of the same 120 cards, at most two of each.",
    "Two lanes of three creatures. An attack stays in its lane.",
    "Every five points of health lost in a turn draw a card more.",
    "Some cards affect one lane or both.",
  ],
  1.2: [
    "Thirty times each takes one of three cards, the same for both.",
    "Two lanes of three creatures. An attack stays in its lane.",
    "A rune that is broken draws a card more.",
  ],
  "1.0": [
    "Thirty times each takes one of three cards, the same for both.",
    "One lane of six creatures.",
    "A rune that is broken draws a card more.",
  ],
};
const BOTH = [
  "Take the opponent\u2019s 30 health. The second player has one more card and a bonus of mana.",
  "Mana grows by one each turn, up to 12. Cards cost mana; attacks are free.",
  "A creature attacks from the turn after it was summoned, once a turn; both deal their attack to each other.",
  "Green items strengthen your creatures, red ones weaken the others, blue ones also hit players.",
];

/** Show it, or no longer. */
async function toggle() {
  const known = /** @type {HTMLDialogElement|null} */ (document.getElementById("help-box"));
  if (known) {
    known.remove();
    return;
  }
  const { badges } = await ask("/api/setup/badges");
  const legend = element("div", { class: "legend" });
  for (const [letter, word, means] of WORDS) {
    const svg = shape("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" });
    const text = `<svg xmlns="http://www.w3.org/2000/svg">${badges[letter]}</svg>`;
    const parts = new DOMParser().parseFromString(text, "image/svg+xml").documentElement;
    for (const part of [...parts.childNodes]) svg.append(document.importNode(part, true));
    legend.append(svg, element("span", {}, element("b", { text: word }), `: ${means}`));
  }
  const facts = (/** @type {[string, string][]} */ rows) =>
    element(
      "dl",
      { class: "facts" },
      ...rows.flatMap(([name, text]) => [element("dt", { text: name }), element("dd", { text })]),
    );
  const list = (/** @type {string[]} */ rows) =>
    element("ul", {}, ...rows.map((text) => element("li", { text })));
  const dialog = /** @type {HTMLDialogElement} */ (
    element("dialog", { id: "help-box", "aria-labelledby": "help-title" })
  );
  dialog.append(
    element(
      "div",
      { class: "bar" },
      element("h1", { id: "help-title", text: "Help" }),
      element("button", { id: "help-close", text: "Close", onclick: () => dialog.close() }),
    ),
    element("h2", { text: "On a card" }),
    legend,
    facts(MORE),
    element("h2", { text: "Rules" }),
    list(BOTH),
    ...Object.entries(RULES)
      .sort()
      .reverse()
      .flatMap(([name, rows]) => [element("h2", { text: `Rules ${name}` }), list(rows)]),
    element("h2", { text: "Keys" }),
    facts([
      ...KEYS,
      ["e, u, h", "end the turn, take back, hint"],
      ["a, s", "engine, search"],
      ["w, r", "what if, report"],
      ["Tab, Enter, Esc", "choose a card and its target, or not"],
      ["?", "this help"],
    ]),
  );
  dialog.addEventListener("close", () => dialog.remove());
  document.body.append(dialog);
  dialog.showModal();
}

$("help").addEventListener("click", () => shown(toggle));
document.addEventListener("keydown", (event) => {
  const { tagName } = /** @type {HTMLElement} */ (event.target);
  if (event.key === "?" && !["INPUT", "TEXTAREA"].includes(tagName)) shown(toggle);
});
