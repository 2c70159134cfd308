// @ts-check
// A position: both players, their hands, the lanes. Where there are actions, it takes them: click a
// card, then one of the targets that light up.

import { painter } from "./cards.js";
import { element, icon, isolated, minus, shape, signed } from "./dom.js";

/** @typedef {import("./cards.js").Deck} Deck */
/** A card of a hand: its id and its key; null if it is not known. @typedef {[number, string]|null} Held */
/** Its id, key, attack, defense, abilities, lane, whether it can attack.
 * @typedef {[number, string, number, number, string, number, number]} Creature */
/** @typedef {{health: number, mana: number|string, max_mana: number, draws: number, deck: number,
 *   runes: number[]|null, hand: Held[], board: Creature[]}} Side */
/** @typedef {{turn: number, player: number, winner: number|null, sides: Side[]}} Position */
/** @typedef {{board: Position, before?: Position|null, acted?: string|null,
 *   actions?: readonly string[], chat?: string, player?: number,
 *   prompt?: string}} Scene */

export const LANE_NAMES = ["left", "right"];
/** Creatures in a lane, by the number of lanes. */
export const LANE_SIZE = [0, 6, 3];
/** The icon of each number of a player, and what it counts. */
const FACTS = {
  health: ["M10 17L3 10Q0 5 4 3Q8 2 10 6Q12 2 16 3Q20 5 17 10z", "Health"],
  mana: ["M10 1L18 6V14L10 19L2 14V6z", "Mana left of this turn's"],
  draws: [
    "M3 2H12V11H10V4H5V14H7V16H3zM13 10V13H16V15H13V18H11V15H8V13H11V10z",
    "Cards drawn at the start of the next turn",
  ],
  deck: ["M6 1H17V15H6zM3 4H5V16H14V18H3z", "Cards left in the deck"],
  hand: ["M2 6L7 4L11 16L6 18zM9 3H14V14L12 15zM15 5L19 7L15 17z", "Cards in hand"],
  runes: ["M10 1L16 10L10 19L4 10z", "Runes: health that, once reached, draws another card"],
};

export class Board {
  /** @param {Deck & {names: readonly string[], lanes: number, seat: number|null,
   *   view?: number|null}} match who sits below, and whose hand is shown at first
   * @param {(action: string) => void} act */
  constructor(match, act) {
    this.draw = painter(match);
    this.match = match;
    this.act = act;
    /** Who sits at the lower edge. */
    this.below = match.view ?? match.seat ?? 0;
    /** Whose hand is shown: 0, 1 or 2 for both. */
    this.view = match.view ?? 2;
    /** @type {Scene|null} */
    this.scene = null;
    /** @type {string|null} */
    this.picked = null;
    /** Actions of the picked card by their target: a lane, a creature or the opponent.
     * @type {Map<string, string>} */
    this.aims = new Map();
    /** What can act. @type {Set<string>} */
    this.sources = new Set();
    /** Why the card that was clicked cannot act. */
    this.reason = "";
    /** Actions that are drawn as arrows. @type {readonly string[]} */
    this.pointed = [];
    this.upper = element("section.side");
    this.lanes = element("div.lanes");
    this.lower = element("section.side");
    this.prompt = element("p.prompt", { "aria-live": "polite" });
    this.arrows = shape("svg", { class: "arrows", "aria-hidden": "true" });
    this.root = element("div.board", this.upper, this.lanes, this.lower, this.prompt, this.arrows);
    this.root.addEventListener("keydown", (event) => {
      if (event.key === "Escape") this.pick(null);
    });
    new ResizeObserver(() => this.drawArrows()).observe(this.root);
  }

  /** @param {Scene} scene */
  show(scene) {
    // A card that was clicked stays so where the same position is shown again.
    const picked = this.scene?.board === scene.board ? this.picked : null;
    this.scene = scene;
    this.picked = scene.actions?.some((action) => action.split(" ")[1] === picked) ? picked : null;
    this.reason = "";
    this.redraw();
  }

  /** Draw arrows for these actions. @param {readonly string[]} actions */
  point(actions) {
    this.pointed = actions;
    this.drawArrows();
  }

  /** @param {string|null} id */
  pick(id) {
    this.picked = this.picked === id ? null : id;
    this.reason = "";
    this.redraw();
  }

  flip() {
    this.below = 1 - this.below;
    this.redraw();
  }

  /** Whether a person can move here, by clicks. */
  get live() {
    return this.scene?.actions !== undefined;
  }

  /** Find out what can act, and what the picked card can do. */
  aim() {
    this.aims.clear();
    this.sources.clear();
    for (const action of this.scene?.actions ?? []) {
      const [word, first, second] = action.split(" ");
      this.sources.add(first);
      if (first !== this.picked) continue;
      if (word === "SUMMON") this.aims.set(`lane${second ?? 0}`, action);
      else this.aims.set(second === "-1" ? "player" : `card${second}`, action);
    }
  }

  redraw() {
    const scene = this.scene;
    if (!scene) return;
    const focused = /** @type {HTMLElement|null} */ (document.activeElement)?.dataset?.place;
    this.aim();
    this.upper = this.drawSide(this.upper, 1 - this.below);
    this.drawLanes();
    this.lower = this.drawSide(this.lower, this.below);
    this.prompt.textContent = this.advice();
    if (focused)
      /** @type {HTMLElement|null} */ (this.root.querySelector(`[data-place="${focused}"]`))?.focus(
        { preventScroll: true },
      );
    this.drawArrows();
  }

  /** What can be done next, or who has won. */
  advice() {
    if (this.reason) return this.reason;
    const { prompt, board, actions } = /** @type {Scene} */ (this.scene);
    if (prompt !== undefined) return prompt;
    if (board.winner !== null) return `${isolated(this.match.names[board.winner])} won.`;
    if (!actions) return "";
    if (this.picked === null)
      return this.sources.size
        ? "Choose a highlighted card or creature."
        : "There is nothing left to do.";
    const kinds = [...this.aims.keys()];
    if (kinds.some((kind) => kind.startsWith("lane"))) return "Choose a lane.";
    return kinds.includes("player")
      ? "Choose a highlighted creature, or the opponent."
      : "Choose a highlighted creature.";
  }

  /** Why a card of the player to move cannot act. @param {string} key @param {Creature|null} creature */
  why(key, creature) {
    const { board } = /** @type {Scene} */ (this.scene);
    const [mine, theirs] = [board.sides[board.player], board.sides[1 - board.player]];
    const { title, row } = this.match.cards[key];
    if (creature)
      return creature[6]
        ? `${title} has nothing to attack.`
        : `${title} cannot attack: it came this turn or has attacked already.`;
    if (row[2] > Number(mine.mana)) return `${title} costs ${row[2]} mana; there is ${mine.mana}.`;
    if (row[1] === 0)
      return `There is no room for ${title}: a lane holds ${LANE_SIZE[this.match.lanes]}.`;
    const whose = row[1] === 1 ? "your side" : "the other side";
    const none = !(row[1] === 1 ? mine : theirs).board.length;
    return none ? `${title} needs a creature on ${whose}.` : `${title} cannot be used now.`;
  }

  /** Make an element a button, named by what is in it. @param {HTMLElement} place
   * @param {string} name @param {string} before what is said before that @param {() => void} click
   * @param {string} [after] what is said after it */
  clickable(place, name, before, click, after = "") {
    place.tabIndex = 0;
    place.dataset.place = name;
    place.setAttribute("role", "button");
    if (before) place.prepend(element("span.sr", `${before} `));
    if (after) place.append(element("span.sr", ` ${after}`));
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

  /** A card of a hand or on the board. @param {number} id @param {string} key
   * @param {Creature|null} creature @param {number} player */
  cardOf(id, key, creature, player) {
    const scene = /** @type {Scene} */ (this.scene);
    const box = creature ? this.draw(key, creature[2], creature[3], creature[4]) : this.draw(key);
    const name = String(id);
    box.dataset.id = name;
    const [word, acting, target] = (scene.acted ?? "").split(" ");
    if (name === acting) box.classList.add("acting");
    if (creature && name === target && word !== "SUMMON") box.classList.add("target");
    const aim = this.aims.get(`card${name}`);
    if (aim) {
      box.classList.add("aim");
      this.clickable(box, `card${name}`, "Target:", () => this.act(aim));
    } else if (this.sources.has(name)) {
      box.classList.add("can");
      if (this.picked === name) box.classList.add("picked");
      this.clickable(box, `card${name}`, "", () => this.pick(name));
      box.setAttribute("aria-pressed", String(this.picked === name));
    } else if (this.live && player === scene.board.player) {
      const reason = this.why(key, creature);
      box.classList.add("cannot");
      const tell = () => {
        this.picked = null;
        this.reason = reason;
        this.redraw();
      };
      this.clickable(box, `card${name}`, "", tell, reason);
    } else {
      // Its text can be read by keyboard, too.
      box.tabIndex = 0;
      box.setAttribute("role", "img");
      box.setAttribute("aria-label", box.querySelector("title")?.textContent ?? "");
    }
    return box;
  }

  /** @param {number} player */
  facts(player) {
    const scene = /** @type {Scene} */ (this.scene);
    const side = scene.board.sides[player];
    /** @type {[keyof typeof FACTS, string|number][]} */
    const facts = [
      ["health", side.health],
      ["mana", `${side.mana}/${side.max_mana}`],
      ["draws", side.draws],
      ["deck", side.deck],
      ["hand", side.hand.length],
    ];
    if (side.runes) facts.push(["runes", side.runes.join(" ") || "none"]);
    const lost = scene.before ? side.health - scene.before.sides[player].health : 0;
    return facts.map(([name, value]) => {
      const [path, title] = FACTS[name];
      const fact = element(
        "span",
        { class: `fact field of-${name}`, title },
        icon(path),
        element("span.sr", `${name} `),
        element("b", { "data-fact": name }, minus(value)),
      );
      if (name === "health" && lost)
        fact.append(element("span", { class: lost > 0 ? "change up" : "change" }, signed(lost)));
      return fact;
    });
  }

  /** @param {HTMLElement} host @param {number} player */
  drawSide(host, player) {
    const scene = /** @type {Scene} */ (this.scene);
    const side = scene.board.sides[player];
    const who = element("div.who");
    who.append(element("bdi", { class: `name p${player}` }, this.match.names[player]));
    who.append(...this.facts(player));
    if (scene.chat && scene.player === player)
      who.append(element("bdi.chat", `\u201c${scene.chat}\u201d`));
    const shown = this.view === 2 || this.view === player;
    const known = shown && !side.hand.includes(null);
    const hand = element("div", { class: known ? "hand" : "hand hidden" });
    for (const held of side.hand)
      hand.append(held && shown ? this.cardOf(held[0], held[1], null, player) : back());
    const lower = player === this.below;
    const fresh = element("section", {
      id: `side${player}`,
      class: `side ${lower ? "lower" : "upper"}${scene.board.player === player ? " active" : ""}`,
      "aria-label": `${lower ? "Below" : "Above"}: ${this.match.names[player]}`,
    });
    fresh.append(who, hand);
    const aim = player === scene.board.player ? undefined : this.aims.get("player");
    if (aim) {
      fresh.classList.add("open");
      who.classList.add("aim");
      // The button is the strip alone: the cards beside it can be buttons, too.
      this.clickable(who, "player", "Target:", () => this.act(aim));
      fresh.addEventListener("click", () => this.act(aim));
    }
    host.replaceWith(fresh);
    return fresh;
  }

  drawLanes() {
    const scene = /** @type {Scene} */ (this.scene);
    /** @type {Map<number, Creature>} */
    const old = new Map();
    for (const side of scene.before?.sides ?? [])
      for (const creature of side.board) old.set(creature[0], creature);
    const lanes = [];
    for (let lane = 0; lane < this.match.lanes; lane++) {
      const box = element("div.lane");
      for (const player of [1 - this.below, this.below]) {
        const row = element("div.row", { "data-player": player, "data-lane": lane });
        const now = scene.board.sides[player].board.filter((creature) => creature[5] === lane);
        const present = new Set(now.map((creature) => creature[0]));
        for (const creature of now) {
          const card = this.cardOf(creature[0], creature[1], creature, player);
          const was = old.get(creature[0]);
          if (scene.before && !was) card.classList.add("came");
          if (was && was[3] !== creature[3]) {
            const change = creature[3] - was[3];
            const name = change > 0 ? "change up" : "change";
            card.append(element("span", { class: name }, signed(change)));
            if (change < 0) card.classList.add("hit");
          }
          row.append(card);
        }
        for (const creature of scene.before?.sides[player].board ?? []) {
          if (creature[5] !== lane || present.has(creature[0])) continue;
          const card = this.draw(creature[1], creature[2], creature[3], creature[4]);
          card.dataset.id = String(creature[0]);
          card.classList.add("gone");
          row.append(card);
        }
        const aim = player === scene.board.player ? this.aims.get(`lane${lane}`) : undefined;
        if (aim) {
          row.classList.add("open");
          const label = this.match.lanes > 1 ? `The ${LANE_NAMES[lane]} lane` : "The lane";
          const place = element("div.place.aim", label);
          this.clickable(place, `lane${lane}`, "", () => this.act(aim));
          row.addEventListener("click", () => this.act(aim));
          row.append(place);
        }
        box.append(row);
      }
      lanes.push(box);
    }
    this.lanes.replaceChildren(...lanes);
  }

  /** Draw arrows from whatever acts to its target. */
  drawArrows() {
    const scene = this.scene;
    const own = scene?.acted && !scene.acted.startsWith("SUMMON") ? [scene.acted] : [];
    const around = this.root.getBoundingClientRect();
    this.arrows.setAttribute("viewBox", `0 0 ${around.width} ${around.height}`);
    this.arrows.replaceChildren();
    if (!scene) return;
    /** @param {Element|null} place */
    const middle = (place) => {
      if (!place) return null;
      const box = place.getBoundingClientRect();
      const y = box.top + box.height / 2 - around.top;
      return { x: box.left + box.width / 2 - around.left, y };
    };
    /** Where a side's edge to the lanes is next to a part of it. @param {number} player
     * @param {string} part */
    const edge = (player, part) => {
      const [side, place] = ["", ` ${part}`].map((inner) =>
        this.root.querySelector(`#side${player}${inner}`),
      );
      const at = middle(place);
      if (!side || !at) return null;
      const { top, bottom } = side.getBoundingClientRect();
      return { ...at, y: (player === this.below ? top : bottom) - around.top };
    };
    const card = (/** @type {string} */ id) => this.root.querySelector(`.card[data-id="${id}"]`);
    for (const action of [...own, ...this.pointed]) {
      const [word, first, second] = action.split(" ");
      const mover = scene.board.turn & 1;
      const from = card(first) ? middle(card(first)) : edge(mover, ".name");
      let to = second === "-1" ? edge(1 - mover, ".of-health") : middle(card(second));
      if (word === "SUMMON") {
        const row = `.row[data-player="${mover}"][data-lane="${second ?? 0}"]`;
        to = middle(this.root.querySelector(row));
      }
      if (!from || !to) continue;
      const advised = this.pointed.includes(action);
      this.arrows.append(arrow(from, to, advised ? "advised" : "done"));
    }
  }
}

/** @param {{x: number, y: number}} from @param {{x: number, y: number}} to @param {string} name */
function arrow(from, to, name) {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const length = Math.max(1, Math.hypot(dx, dy));
  const [ux, uy] = [dx / length, dy / length];
  const [hx, hy] = [to.x - 14 * ux, to.y - 14 * uy];
  const at = (/** @type {number} */ x, /** @type {number} */ y) =>
    `${x.toFixed(1)} ${y.toFixed(1)}`;
  const head = `M${at(to.x, to.y)}L${at(hx - 8 * uy, hy + 8 * ux)}L${at(hx + 8 * uy, hy - 8 * ux)}z`;
  const group = shape("g", { class: name });
  group.append(
    shape("path", { class: "shaft", d: `M${at(from.x, from.y)}L${at(hx, hy)}` }),
    shape("path", { class: "head", d: head }),
  );
  return group;
}

/** The back of a card, for one that is not known. */
function back() {
  const svg = shape("svg", { viewBox: "0 0 100 140", "aria-hidden": "true" });
  svg.append(
    shape("rect", { x: 1, y: 1, width: 98, height: 138, rx: 8, class: "cover" }),
    shape("path", { d: "M50 30L76 70L50 110L24 70z", class: "sign" }),
  );
  return element("div.back", svg);
}
