// @ts-check
// A position that can be played on: click a card, then one of the targets that light up.

import { shape } from "./cards.js";
import { element } from "./site.js";

/** @typedef {import("./cards.js").Deck} Deck */
/** @typedef {{id: number, card: string}} Held */
/** @typedef {{id: number, card: string, attack: number, defense: number, abilities: string,
 *   lane: number, ready: boolean}} Creature */
/** @typedef {{health: number, mana: number, max_mana: number, draws: number, deck: number,
 *   runes: number[]|null, size: number, hand: Held[], board: Creature[]}} Side */
/** @typedef {{turn: number, player: number, winner: number|null, lanes: number,
 *   sides: Side[]}} Board */
/** @typedef {{board: Board, seat: number, names: readonly string[], actions?: readonly string[],
 *   before?: Board|null, acted?: string}} Scene */

const signed = (/** @type {number} */ value) => (value > 0 ? "+" : "\u2212") + Math.abs(value);
const LANES = ["left", "right"];

/** The name of a card. @param {Deck} deck @param {string} key */
export function nameOf(deck, key) {
  const card = deck.cards[key];
  const kind = ["creature", "green item", "red item", "blue item"][card.row[1]];
  return card.name || `${kind} ${card.row[0]}`;
}

/** An action in words. @param {Deck} deck @param {string} action
 * @param {readonly (Board|null|undefined)[]} boards where its cards may be
 * @param {string} other who is meant by -1
 * @param {string} [acting] the key of its card, if that may be nowhere */
export function wordsOf(deck, action, boards, other, acting) {
  const [word, first, second] = action.split(" ");
  const named = (/** @type {string} */ text) => {
    for (const board of boards)
      for (const side of board?.sides ?? [])
        for (const held of [...side.hand, ...side.board])
          if (held.id === Number(text)) return nameOf(deck, held.card);
    return `card ${text}`;
  };
  const who = acting ? nameOf(deck, acting) : named(first);
  if (word === "SUMMON")
    return `${who} comes${second === undefined ? "" : ` to the ${LANES[Number(second)]} lane`}`;
  const target = second === "-1" ? other : named(second);
  return word === "ATTACK" ? `${who} attacks ${target}` : `${who} on ${target}`;
}

export class Table {
  /** @param {HTMLElement} host @param {Deck} deck
   * @param {(key: string, attack: number, defense: number, abilities: string) => HTMLElement} draw
   * @param {(action: string) => void} act */
  constructor(host, deck, draw, act) {
    this.deck = deck;
    this.draw = draw;
    this.act = act;
    /** @type {Scene|null} */
    this.scene = null;
    /** @type {string|null} */
    this.picked = null;
    this.upper = element("section", { class: "side", "aria-label": "Opponent" });
    this.lanes = element("div", { class: "lanes" });
    this.lower = element("section", { class: "side", "aria-label": "You" });
    this.prompt = element("p", { class: "prompt", "aria-live": "polite" });
    host.replaceChildren(this.upper, this.lanes, this.lower, this.prompt);
    host.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.pick(null);
    });
  }

  /** @param {Scene} scene */
  show(scene) {
    this.scene = scene;
    this.picked = null;
    this.redraw();
  }

  /** @param {string|null} id */
  pick(id) {
    this.picked = this.picked === id ? null : id;
    this.redraw();
  }

  /** Actions of the picked card by what they are aimed at: a lane, a creature or the opponent. */
  aims() {
    /** @type {Map<string, string>} */
    const aims = new Map();
    for (const action of this.scene?.actions ?? []) {
      const [word, first, second] = action.split(" ");
      if (first !== this.picked) continue;
      if (word === "SUMMON") aims.set(`lane${second ?? 0}`, action);
      else aims.set(second === "-1" ? "player" : `card${second}`, action);
    }
    return aims;
  }

  redraw() {
    const scene = this.scene;
    if (!scene) return;
    const focused = /** @type {HTMLElement|null} */ (document.activeElement)?.dataset?.place;
    const aims = this.aims();
    const sources = new Set((scene.actions ?? []).map((action) => action.split(" ")[1]));
    this.drawSide(this.upper, 1 - scene.seat, aims, sources);
    this.drawLanes(aims, sources);
    this.drawSide(this.lower, scene.seat, aims, sources);
    this.prompt.textContent = this.advice(aims, sources);
    if (focused)
      /** @type {HTMLElement|null} */ (
        document.querySelector(`[data-place="${focused}"]`)
      )?.focus();
  }

  /** What can be done next. @param {Map<string, string>} aims @param {Set<string>} sources */
  advice(aims, sources) {
    if (!this.scene?.actions) return "";
    if (this.picked === null)
      return sources.size ? "Choose a card or a creature that lights up." : "Nothing left to do.";
    const kinds = [...aims.keys()];
    if (kinds.some((kind) => kind.startsWith("lane"))) return "Choose a lane.";
    return kinds.includes("player")
      ? "Choose a creature that lights up, or the opponent."
      : "Choose a creature that lights up.";
  }

  /** Something to click. @param {HTMLElement} place @param {string} name @param {string} label
   * @param {() => void} click */
  live(place, name, label, click) {
    place.tabIndex = 0;
    place.dataset.place = name;
    place.setAttribute("role", "button");
    if (label) place.setAttribute("aria-label", label);
    place.addEventListener("click", (event) => {
      event.stopPropagation();
      click();
    });
    place.addEventListener("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ") return;
      event.preventDefault();
      event.stopPropagation();
      click();
    });
  }

  /** A card on the table. @param {Held|Creature} held @param {Map<string, string>} aims
   * @param {Set<string>} sources */
  cardOf(held, aims, sources) {
    const scene = /** @type {Scene} */ (this.scene);
    const row = this.deck.cards[held.card].row;
    const creature = "attack" in held ? held : null;
    const box = this.draw(
      held.card,
      creature ? creature.attack : row[3],
      creature ? creature.defense : row[4],
      creature ? creature.abilities : row[5],
    );
    const id = String(held.id);
    box.dataset.id = id;
    const [, acting, target] = (scene.acted ?? "").split(" ");
    if (id === acting) box.classList.add("acting");
    if (creature && id === target && !scene.acted?.startsWith("SUMMON"))
      box.classList.add("target");
    if (creature && scene.before) this.drawChange(box, creature, scene.before);
    const title = this.deck.cards[held.card].title;
    const aim = aims.get(`card${id}`);
    if (aim) {
      box.classList.add("aim");
      this.live(box, `card${id}`, `Target: ${title}`, () => this.act(aim));
    } else if (sources.has(id)) {
      box.classList.add("can");
      box.setAttribute("aria-pressed", String(this.picked === id));
      if (this.picked === id) box.classList.add("picked");
      this.live(box, `card${id}`, title, () => this.pick(id));
    }
    return box;
  }

  /** @param {HTMLElement} box @param {Creature} creature @param {Board} before */
  drawChange(box, creature, before) {
    for (const side of before.sides)
      for (const was of side.board)
        if (was.id === creature.id && was.defense !== creature.defense) {
          const change = creature.defense - was.defense;
          const name = change > 0 ? "change up" : "change";
          box.append(element("span", { class: name, text: signed(change) }));
        }
  }

  /** @param {HTMLElement} host @param {number} player @param {Map<string, string>} aims
   * @param {Set<string>} sources */
  drawSide(host, player, aims, sources) {
    const scene = /** @type {Scene} */ (this.scene);
    const side = scene.board.sides[player];
    const who = element("div", { class: `who p${player}` });
    who.append(element("bdi", { text: scene.names[player] }));
    /** @type {[string, string|number][]} */
    const facts = [
      ["health", side.health],
      ["mana", `${side.mana}/${side.max_mana}`],
      ["draws", side.draws],
      ["deck", side.deck],
      ["hand", side.size],
    ];
    if (side.runes) facts.push(["runes", side.runes.join(" ") || "none"]);
    for (const [name, value] of facts) {
      const fact = element(
        "span",
        {},
        `${name} `,
        element("b", { "data-fact": name, text: value }),
      );
      const lost = scene.before ? side.health - scene.before.sides[player].health : 0;
      if (name === "health" && lost)
        fact.append(
          element("span", { class: lost > 0 ? "change up" : "change", text: signed(lost) }),
        );
      who.append(fact);
    }
    const hand = element("div", { class: "hand" });
    for (const held of side.hand) hand.append(this.cardOf(held, aims, sources));
    for (let i = side.hand.length; i < side.size; i++) hand.append(back());
    const fresh = /** @type {HTMLElement} */ (host.cloneNode(false));
    fresh.className = `side${scene.board.player === player ? " active" : ""}`;
    for (const name of ["tabindex", "role", "data-place"]) fresh.removeAttribute(name);
    fresh.setAttribute("aria-label", player === scene.seat ? "You" : "Opponent");
    fresh.append(who, hand);
    const aim = player === scene.seat ? undefined : aims.get("player");
    if (aim) {
      fresh.classList.add("aim");
      this.live(fresh, "player", "Target: the opponent", () => this.act(aim));
    }
    host.replaceWith(fresh);
    if (player === scene.seat) this.lower = fresh;
    else this.upper = fresh;
  }

  /** @param {Map<string, string>} aims @param {Set<string>} sources */
  drawLanes(aims, sources) {
    const scene = /** @type {Scene} */ (this.scene);
    const lanes = [];
    for (let lane = 0; lane < scene.board.lanes; lane++) {
      const box = element("div", { class: "lane" });
      for (const player of [1 - scene.seat, scene.seat]) {
        const row = element("div", { class: "row", "data-player": player, "data-lane": lane });
        for (const creature of scene.board.sides[player].board)
          if (creature.lane === lane) row.append(this.cardOf(creature, aims, sources));
        const aim = player === scene.seat ? aims.get(`lane${lane}`) : undefined;
        if (aim) {
          row.classList.add("aim");
          const label = scene.board.lanes > 1 ? `The ${LANES[lane]} lane` : "The lane";
          this.live(row, `lane${lane}`, label, () => this.act(aim));
        }
        box.append(row);
      }
      lanes.push(box);
    }
    this.lanes.replaceChildren(...lanes);
  }
}

/** A card that is not known. */
function back() {
  const svg = shape("svg", { viewBox: "0 0 100 140" });
  svg.append(
    shape("rect", { x: 1, y: 1, width: 98, height: 138, rx: 8, fill: "#58465e" }),
    shape("path", { d: "M50 30L76 70L50 110L24 70z", fill: "#8a7393" }),
  );
  return element("div", { class: "back", "aria-hidden": "true" }, svg);
}
