// @ts-check
// The page Set up: makes a position by clicks, from a text, or from what a bot was sent.

import { LANE_SIZE } from "./board.js";
import { painter } from "./cards.js";
import "./cardtext.js";
import {
  $,
  attempt,
  button,
  element,
  named,
  notice,
  panel,
  select,
  setValue,
  valueOf,
} from "./dom.js";
import { fieldOf, form } from "./form.js";
import { address, ask, tell } from "./site.js";

/** @typedef {{hand: string[], lanes: string[][]}} Side */
/** @typedef {import("./form.js").Field} Field */

/** Cards in a hand, and in a deck. */
const HAND = 8;
const DECK = 20;
/** @type {any} */
let deck;
/** @type {Side[]} */
let sides = [];
/** Where the next card goes: player, and a lane or the hand. @type {[number, number|"hand"]} */
let spot = [0, "hand"];

/** Show a position on a page of its own. @param {Record<string, any>} data */
function go(data) {
  notice();
  attempt(async () => {
    const { match } = await tell("/api/match/setup", data);
    location.href = address(`/match/${match}#engine`);
  });
}

/** Show the position that was put together, if its numbers can be. */
function goBoard() {
  for (const field of /** @type {NodeListOf<HTMLInputElement>} */ (
    document.querySelectorAll(".numbers input")
  ))
    if (!field.checkValidity()) {
      const name = field.dataset.name;
      notice(`${name}: expected a whole number from ${field.min} to ${field.max}.`);
      field.focus();
      return;
    }
  go({ text: text() });
}

/** What is set up is kept with the page: going back to it, or loading it again, loses nothing. */
const FIELDS = ["boardrules", "boardseed", "mover", "health0", "mana0", "health1", "mana1"];
function keep() {
  const fields = Object.fromEntries(FIELDS.map((id) => [id, valueOf(id)]));
  history.replaceState({ ...history.state, fields, sides, spot }, "");
}

/** @param {Field} rules */
function pasted(rules) {
  return form(
    ".panel",
    () => go({ text: valueOf("text"), rules: valueOf("textrules") }),
    element("h2", "From a text"),
    element(
      "label",
      "The text of a position, or what a bot is sent in a turn. Or drop a file onto this page.",
      element("textarea#text.small", { rows: 5, spellcheck: "false" }),
    ),
    element(
      "div.bar",
      select("textrules", "Rules of what a bot is sent", [
        ["", "by its columns"],
        ...named(rules.choices),
      ]),
      element("button#open.main", "Show"),
    ),
  );
}

/** The cards of a place. @param {number} player @param {number|"hand"} where */
const cardsAt = (player, where) =>
  where === "hand" ? sides[player].hand : sides[player].lanes[where];

/** @param {string} key */
function put(key) {
  const [player, where] = spot;
  const there = cardsAt(player, where);
  const creature = deck.cards[key].row[1] === 0;
  const size = where === "hand" ? HAND : LANE_SIZE[deck.lanes];
  if (!creature && where !== "hand") return notice("Only creatures stand in a lane.");
  if (there.length >= size) return notice(`There is room for ${size} cards.`);
  notice();
  there.push(key);
  draw();
}

/** @param {number} player @param {number|"hand"} where @param {string} name
 * @param {(key: string) => HTMLElement} card */
function place(player, where, name, card) {
  const chosen = spot[0] === player && spot[1] === where;
  const pick = button(
    ".small",
    name,
    () => {
      spot = [player, where];
      draw();
    },
    { "aria-pressed": chosen },
  );
  const there = cardsAt(player, where);
  const held = there.map((key, i) => {
    const remove = () => {
      there.splice(i, 1);
      draw();
    };
    const taken = button(".pick", card(key), remove);
    taken.prepend(element("span.sr", "Take away "));
    return taken;
  });
  const box = element("div.spot", { "data-spot": `${player}${where}` }, ...held);
  box.classList.toggle("chosen", chosen);
  return element("div", pick, box);
}

/** @type {(key: string) => HTMLElement} */
let card;

/** @param {number} lane */
const laneName = (lane) => (deck.lanes > 1 ? ["Left lane", "Right lane"][lane] : "Lane");

function draw() {
  keep();
  const lanes = (/** @type {number} */ player) =>
    element(
      "div.lanes",
      ...sides[player].lanes.map((_, lane) =>
        place(player, lane, `${laneName(lane)}, ${player ? "above" : "below"}`, card),
      ),
    );
  $("places").replaceChildren(
    place(1, "hand", "Hand above", card),
    lanes(1),
    lanes(0),
    place(0, "hand", "Hand below", card),
  );
}

/** The text of the position (docs/rules.md). */
function text() {
  const entries = [...new Set(deck.keys)];
  const used = /** @type {string[]} */ ([]);
  const indexOf = (/** @type {string} */ key) => {
    if (!used.includes(key)) used.push(key);
    return used.indexOf(key);
  };
  let id = 0;
  const fresh = () => (id += 2) - 2;
  const turn = Number(valueOf("mover"));
  const players = sides.map((side, player) => {
    const value = (/** @type {string} */ name) => Number(valueOf(`${name}${player}`));
    const mana = value("mana");
    const special = deck.rules === "1.5" ? "0" : runes(value("health"));
    const numbers = [value("health"), mana, mana, 0, 1, 1, special].join(",");
    const hand = side.hand.map((key) => `${fresh()}:${indexOf(key)}`).join(",");
    const board = side.lanes
      .flatMap((keys, lane) =>
        keys.map((key) => {
          const row = deck.cards[key].row;
          return `${fresh()}:${indexOf(key)}:${row[3]}:${row[4]}:${row[5]}:${lane}:r`;
        }),
      )
      .join(",");
    // The deck is not set up: any cards will do for what is drawn later.
    const rest = Array.from(
      { length: DECK },
      (_, i) => entries[(7 * i + 11 * player) % entries.length],
    );
    const left = rest.map((key) => `${fresh()}:${indexOf(key)}`).join(",");
    return [numbers, hand || "-", board || "-", left].join("/");
  });
  const rows = used.map((key) => deck.cards[key].row.slice(0, 10).join(":"));
  return `${deck.rules} ${turn} - ${players.join(" ")} 0 ${rows.join(",")}`;
}

/** The runes that are left at a health. @param {number} health */
const runes = (health) => [5, 10, 15, 20, 25].filter((rune) => rune < health).join(".") || "-";

/** Offer the cards of the rules that are chosen, for an empty board or the one that was kept. What
 * comes after others have been chosen is not shown.
 * @param {{sides: Side[], spot: [number, number|"hand"]}} [kept] */
async function load(kept) {
  const query = { rules: valueOf("boardrules"), seed: valueOf("boardseed") };
  const found = await ask("/api/setup/cards", query);
  if (query.rules !== valueOf("boardrules") || query.seed !== valueOf("boardseed")) return;
  deck = found;
  card = painter(deck);
  const empty = () => ({ hand: [], lanes: Array.from({ length: deck.lanes }, () => []) });
  ({ sides, spot } = kept ?? { sides: [empty(), empty()], spot: [0, "hand"] });
  $("catalogue").replaceChildren(
    ...[...deck.keys]
      .sort((a, b) => deck.cards[a].row[2] - deck.cards[b].row[2])
      .map((/** @type {string} */ key) =>
        button(".pick", card(key), () => put(key), { "data-card": key }),
      ),
  );
  draw();
}

/** A field for a number of a player. @param {Field} field @param {number} player */
function figure(field, player) {
  const name = `${field.name} ${player ? "above" : "below"}`;
  const text = `${field.text} ${player ? "above" : "below"}`;
  const named = { ...field, name: `${field.name}${player}`, text };
  return fieldOf(named, "", { "data-name": name, onchange: keep });
}

/** @param {Field[]} cards @param {Field[]} players */
function clicked(cards, players) {
  const [rules, seed] = cards.map((field) => fieldOf(field, "board"));
  for (const field of [rules, seed]) field.addEventListener("change", () => attempt(() => load()));
  const sides = /** @type {[string, string][]} */ ([
    ["20", "below"],
    ["21", "above"],
  ]);
  const mover = select("mover", "To move", sides, "20", keep);
  return panel(
    "By clicks",
    element(
      "p.dim",
      "Choose a place, then click cards to put them there. Click a card on the board to remove it.",
    ),
    element("div.bar", rules, seed, mover),
    element(
      "div.bar.numbers",
      ...[0, 1].flatMap((player) => players.map((field) => figure(field, player))),
      button("#setup.main", "Show it", goBoard),
    ),
    element(
      "div.editor",
      element("div#places"),
      element("div#catalogue.catalogue", { "aria-label": "Cards", role: "group", tabindex: "0" }),
    ),
  );
}

attempt(async () => {
  const { cards, players } = await ask("/api/setup/form");
  $("main").replaceChildren(
    element("h1", "Set up a position"),
    clicked(cards, players),
    pasted(cards[0]),
  );
  const kept = history.state;
  if (kept?.fields) for (const id of FIELDS) setValue(id, kept.fields[id]);
  await load(kept?.fields ? kept : undefined);
});
