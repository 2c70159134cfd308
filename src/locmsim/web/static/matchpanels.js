// @ts-check
// The panels of a match that stay as they are: both decks and what was on offer, and what there is to
// know about the match.

import { copiesOf, manaCurve } from "./curve.js";
import { button, element, nameOf, select } from "./dom.js";
import { save, unpacked } from "./packed.js";
import { writtenBox } from "./written.js";

/** @typedef {import("./viewer.js").Match} Match */

/** What keys do, for the help. @type {[string, string][]} */
export const KEYS = [
  ["\u2190 \u2192", "one step"],
  ["\u2191 \u2193", "one turn"],
  ["Home, End", "first and last step"],
  ["Space", "play or pause"],
  ["f", "flip the board"],
  ["v", "whose hand is shown"],
  ["m, c, i", "moves, cards, about the match"],
];

/** A list of what things are. @param {(readonly [string, Node|string])[]} rows */
export const facts = (rows) =>
  element(
    "dl.facts.small",
    ...rows.flatMap(([name, value]) => [element("dt.dim", name), element("dd", value)]),
  );

/** The panel of both decks and what was on offer. @param {Match} data */
export function cardsPanel(data) {
  const box = element("div");
  data.choice.forEach((chosen, player) => {
    if (!chosen.length) return;
    const list = element("ul.cardlist.plain.small");
    for (const [key, count] of copiesOf(chosen, data))
      list.append(
        element(
          "li",
          { title: data.cards[key].about },
          element("span.cost.dim", data.cards[key].row[2]),
          element("bdi", data.cards[key].title),
          count > 1 ? ` \u00d7${count}` : "",
        ),
      );
    const curve = manaCurve(chosen.map((key) => data.cards[key].row));
    curve.classList.add(`p${player}`);
    box.append(element("h2", nameOf(data.names, player)), curve, list);
  });
  data.choice_stderr?.forEach((text, player) => {
    if (!text) return;
    const name = nameOf(data.names, player);
    const summary = element("summary.dim", "stderr of ", name, " in the choice phase");
    box.append(writtenBox(summary, text));
  });
  if (data.offers.length) box.append(offersTable(data));
  return box;
}

/** What both chose from, and how often each card was taken. @param {Match} data */
function offersTable(data) {
  const table = element("table.choice.small");
  /** @param {string} tag @param {string[]} cells */
  const row = (tag, cells) =>
    table.append(element("tr", ...cells.map((text) => element(tag, {}, element("bdi", text)))));
  const titleOf = (/** @type {string} */ key) => data.cards[key].title;
  // What a bot was sent does not tell what the players chose.
  const known = data.choice.some((chosen) => chosen.length);
  const names = known ? data.names : [];
  if (data.offers.length === 1) {
    const times = (/** @type {string} */ key) =>
      data.choice.map((chosen) => chosen.filter((one) => one === key).length);
    const total = (/** @type {string} */ key) => times(key)[0] + times(key)[1];
    row("th", ["on offer", ...names]);
    for (const key of [...data.offers[0]].sort((a, b) => total(b) - total(a)))
      row("td", [
        titleOf(key),
        ...(known ? times(key).map((n) => (n ? String(n) : "\u2013")) : []),
      ]);
  } else {
    row("th", ["pick", "offered", ...names]);
    data.offers.forEach((offer, pick) => {
      const chosen = data.choice.map((cards) =>
        pick < cards.length ? titleOf(cards[pick]) : "\u2013",
      );
      const offered = offer.map(titleOf).join(", ");
      row("td", [String(pick + 1), offered, ...(known ? chosen : [])]);
    });
  }
  return table;
}

/** Buttons that save the log and the position, in a page that is a file.
 * @param {string} packed @param {() => number} at the index of the step that is shown */
function downloads(packed, at) {
  const files = () => unpacked(packed).json();
  return element(
    "div.bar",
    button("#save-log", "Log", async () => save((await files()).log, "match.json")),
    button("#save-position", "Position", async () =>
      save(`${(await files()).positions[at()]}\n`, "position.txt"),
    ),
  );
}

/** The panel of seeds, parameters, keys, and what the bots wrote. @param {Match} data
 * @param {() => number} at the index of the step that is shown */
export function aboutPanel(data, at) {
  const box = element("div");
  /** @type {[string, Node][]} */
  const players = data.names.map((name, player) => {
    const who = data.agents?.[player] || name;
    const value = copied(who, `Copy player ${player}`);
    const named = who === name ? value : element("span", element("bdi", name), " ", value);
    return [`player ${player}`, named];
  });
  const params = Object.entries({ rules: data.rules, ...data.params });
  box.append(
    facts([
      ...players,
      ...params.map(
        ([name, value]) => /** @type {const} */ ([name, copied(value, `Copy ${name}`)]),
      ),
    ]),
  );
  if (data.files) box.prepend(element("h2", "Download"), downloads(data.files, at));
  const errors = element("div#stderr", { hidden: !data.stderr.some(Boolean) });
  data.stderr.forEach((text, player) => {
    if (text)
      errors.append(
        element("h2", "Standard error of ", element("bdi", data.names[player])),
        element("pre", text),
      );
  });
  box.append(errors, element("h2", "Keys"), facts(KEYS));
  return box;
}

/** A form to play on from the step that is shown. @param {import("./viewer.js").Viewer} viewer
 * @param {[string, string][]} opponents @param {string|undefined} chosen one of them
 * @param {() => void} begin */
export function playOn({ data }, opponents, chosen, begin) {
  const seats = data.names.map((name, seat) => /** @type {const} */ ([String(seat), name]));
  return [
    element("h2", "Play from here"),
    element(
      "div.bar",
      select("out-seat", "Play on as", seats),
      select("out-opponent", "against", opponents, chosen),
      button("#out", "Play it out", begin),
    ),
  ];
}

/** A button with a text that a click copies. @param {string} text @param {string} label */
function copied(text, label) {
  const made = button(
    ".copy",
    text,
    async () => {
      await navigator.clipboard?.writeText(text).catch(() => {});
      made.classList.add("done");
      setTimeout(() => made.classList.remove("done"), 900);
    },
    { title: label },
  );
  return made;
}
