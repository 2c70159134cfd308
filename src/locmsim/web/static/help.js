// @ts-check
// The help: a legend of keywords, areas and badges, the rules in short, and the keys.

import { parsed } from "./cards.js";
import { button, element, shape } from "./dom.js";
import { KEYS, facts } from "./matchpanels.js";
import { WORDS } from "./words.js";

/** @type {[string, string][]} */
const MORE = [
  ["top left", "its cost in mana"],
  ["bottom left and right", "attack and defense; on an item, how much it changes them"],
  ["heart", "changes your health"],
  ["skull", "changes the opponent\u2019s health"],
  ["cards", "you draw so many more cards next turn"],
];
const DRAFT = "Thirty times, each player takes one of three cards. Both are shown the same three.";
const LANES = "Two lanes of three creatures. An attack stays in its lane.";
const RUNES = "When one of your runes breaks, you draw one more card.";
/** What differs by rule set. @type {Record<string, string[]>} */
const DIFFERENT = {
  1.5: [
    "Both players choose 30 of the same 120 cards, at most two of each.",
    LANES,
    "For every five health that you lose in a turn, you draw one more card.",
    "Some cards affect one lane or both.",
  ],
  1.2: [DRAFT, LANES, RUNES],
  "1.0": [DRAFT, "One lane of six creatures.", RUNES],
};
const BOTH = [
  "Bring the opponent\u2019s health from 30 to 0. The second player has one more card and bonus mana.",
  "Mana grows by one each turn, up to 12. Cards cost mana; attacks are free.",
  "A creature can attack once a turn, from the turn after it was summoned. Attacker and defender damage each other.",
  "Green items strengthen your creatures, red ones weaken enemy creatures, and blue ones can also target players.",
];

/** Open the help. @param {Record<string, string>} badges their pictures */
export function showHelp(badges) {
  if (document.querySelector("dialog[open]")) return;
  const legend = WORDS.flatMap(([letter, word, means]) => {
    const svg = shape("svg", { viewBox: "0 0 16 16", "aria-hidden": "true" });
    svg.append(...document.importNode(parsed(badges[letter]), true).childNodes);
    return [svg, element("span", element("b", word), `: ${means}`)];
  });
  const list = (/** @type {string[]} */ rows) =>
    element("ul", ...rows.map((text) => element("li", text)));
  const close = () => dialog.close();
  const keys = {
    "aria-labelledby": "help-title",
    onclose: () => dialog.remove(),
    onkeydown: (/** @type {KeyboardEvent} */ { key }) => key === "?" && close(),
  };
  const parts = [
    element("div.bar", element("h1#help-title", "Help"), button("#help-close", "Close", close)),
    element("h2", "On a card"),
    element("div.legend", ...legend),
    facts(MORE),
    element("h2", "Rules"),
    list(BOTH),
    ...Object.entries(DIFFERENT)
      .sort()
      .reverse()
      .flatMap(([name, rows]) => [element("h2", `Rules ${name}`), list(rows)]),
    element("h2", "Keys"),
    facts([
      ...KEYS,
      ["Shift+E, u, h, n", "end the turn, take back, hint, next exercise"],
      ["a, s", "engine, search"],
      ["w, r", "what if, report"],
      ["Tab, Enter, Esc", "choose a card and its target, or not"],
      ["?", "this help"],
    ]),
  ];
  const dialog = /** @type {HTMLDialogElement} */ (element("dialog#help-box", keys, ...parts));
  document.body.append(dialog);
  dialog.showModal();
}
