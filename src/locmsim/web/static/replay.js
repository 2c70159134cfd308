// @ts-check
// Shows the match that the page carries. Text of players goes in by textContent only.
// It is put into the page behind cards.js, as one script without modules.
import { painter, shape } from "./cards.js";

(() => {
  "use strict";
  /** @typedef {{turn: number, player: number, action: string|null, answer?: string|null,
   *   chat?: string, ignored?: string[], ms?: number, odds?: number, theirs?: string[], state: any}} Step */

  const $ = (/** @type {string} */ id) => /** @type {HTMLElement} */ (document.getElementById(id));
  /** @type {{rules: string, names: string[], scores: number[], winner: number, fault: any,
   *   params: Record<string, string>, stderr: string[], lanes: number, cards: Record<string, any>,
   *   badges: Record<string, string[]>, frames: string[][],
   *   numbers: Record<string, [number, number, number, number, string, string]>, ids: Record<string, number>,
   *   choice: number[][], offers: number[][], steps: Step[], captured?: number, view: number|null,
   *   analyse?: string}} */
  const match = JSON.parse($("data").textContent || "");
  const steps = match.steps;
  let at = 0;
  /** @type {number|undefined} */
  let timer;

  /** @param {string} tag @param {string} [className] @param {string} [text] */
  function element(tag, className, text) {
    const made = document.createElement(tag);
    if (className) made.className = className;
    if (text !== undefined) made.textContent = text;
    return made;
  }

  /** The card of an instance, undefined for one that nobody shows. @param {number} id
   * @returns {number|undefined} */
  const baseOf = (id) =>
    // Creatures that an area effect copies come after their card, and are in no list.
    match.ids[id] ?? (match.captured === undefined ? match.ids[id - 1] : undefined);
  const nameOf = (/** @type {number|undefined} */ base) =>
    base === undefined ? "a card" : match.cards[base]?.name || `card ${base}`;

  const draw = painter(match);
  /** @param {number} base @param {number} attack @param {number} defense @param {string} abilities */
  const cardOf = (base, attack, defense, abilities) =>
    draw(String(base), attack, defense, abilities);

  const signed = (/** @type {number} */ value) => (value > 0 ? "+" : "\u2212") + Math.abs(value);

  /** The step that begins the turn of a step. @param {number} index */
  function turnStart(index) {
    while (index > 0 && steps[index].action !== null) index -= 1;
    return steps[index];
  }

  /** What the action of a step names. @param {Step} step */
  const idsOf = (step) => (step.action ? step.action.split(" ").slice(1).map(Number) : []);

  /** @param {Step} step */
  function words(step) {
    if (step.action === null) return "";
    const [word, first, second] = step.action.split(" ");
    const name = nameOf(baseOf(Number(first)));
    if (word === "SUMMON")
      return `${name} comes${match.lanes > 1 ? ` to the ${second === "0" ? "left" : "right"} lane` : ""}`;
    const target = second === "-1" ? match.names[1 - step.player] : nameOf(baseOf(Number(second)));
    return word === "ATTACK" ? `${name} attacks ${target}` : `${name} is used on ${target}`;
  }

  /** @param {number} player @param {any} state @param {any} before */
  function drawSide(player, state, before) {
    const side = $(`side${player}`);
    const mine = state.p[player];
    side.classList.toggle("active", state.cur === player && state.winner < 0);
    const who = element("div", "who");
    who.append(element("bdi", "", match.names[player]));
    /** @type {[string, string][]} */
    const facts = [
      ["health", mine.hp],
      ["mana", `${mine.mana}/${mine.maxMana}`],
      ["draws", mine.draw],
      ["deck", mine.deck],
      ["hand", mine.hand.length],
    ];
    if (mine.runes) facts.push(["runes", mine.runes.join(" ") || "none"]);
    for (const [name, value] of facts) {
      const fact = element("span", "fact", `${name} `);
      const number = element("b", "", String(value));
      number.dataset.fact = name;
      fact.append(number);
      const lost = before ? mine.hp - before.p[player].hp : 0;
      if (name === "health" && lost)
        fact.append(element("span", lost > 0 ? "gain" : "loss", signed(lost)));
      who.append(fact);
    }
    const start = turnStart(at);
    if (start?.player === player && start.chat)
      who.append(element("bdi", "chat", `\u201c${start.chat}\u201d`));
    const hand = element("div", "hand");
    const view = Number(/** @type {HTMLSelectElement} */ ($("view")).value);
    for (const id of mine.hand) {
      const base = baseOf(id);
      if ((view !== 2 && view !== player) || base === undefined) {
        hand.append(element("div", "back"));
        continue;
      }
      const row = match.cards[base].row;
      hand.append(cardOf(base, row[3], row[4], row[5]));
    }
    side.replaceChildren(who, hand);
  }

  /** @param {Step} step @param {any} state @param {any} before */
  function drawBoard(step, state, before) {
    const [acting, target] = idsOf(step);
    /** @type {Map<number, any>} */
    const old = new Map();
    for (const side of before ? before.p : []) for (const c of side.board) old.set(c[0], c);
    const lanes = [];
    for (let lane = 0; lane < match.lanes; lane++) {
      const box = element("div", "lane");
      for (const player of [1, 0]) {
        const row = element("div", "row");
        row.dataset.player = String(player);
        const now = state.p[player].board.filter((/** @type {any} */ c) => c[5] === lane);
        const present = new Set(now.map((/** @type {any} */ c) => c[0]));
        const dead = before
          ? before.p[player].board.filter(
              (/** @type {any} */ c) => c[5] === lane && !present.has(c[0]),
            )
          : [];
        for (const creature of [...now, ...dead]) {
          const [id, base, attack, defense, abilities] = creature;
          const card = cardOf(base, attack, defense, abilities);
          card.dataset.id = String(id);
          if (!present.has(id)) card.classList.add("gone");
          else if (before && !old.has(id)) card.classList.add("came");
          if (id === acting) card.classList.add("acting");
          if (id === target && !step.action?.startsWith("SUMMON")) card.classList.add("target");
          const was = old.get(id);
          if (was && present.has(id) && was[3] !== defense) {
            const change = defense - was[3];
            card.append(element("span", change > 0 ? "change up" : "change", signed(change)));
            if (change < 0) card.classList.add("hit");
          }
          row.append(card);
        }
        box.append(row);
      }
      lanes.push(box);
    }
    $("board").replaceChildren(...lanes);
  }

  const entries = steps.map((step, index) => {
    const entry = element("li", step.action === null ? `turn p${step.player}` : "");
    if (step.action === null) {
      const link = /** @type {HTMLAnchorElement} */ (element("a", "", `Turn ${step.turn}`));
      link.href = `#turn=${step.turn}`;
      entry.append(link, ": ", element("bdi", "", match.names[step.player]));
      if (step.ms) entry.append(" ", element("small", "", `${step.ms} ms`));
      if (step.chat) entry.append(" ", element("bdi", "", `\u201c${step.chat}\u201d`));
      if (step.ignored?.length)
        entry.append(
          " ",
          element("small", "", `ignored: ${step.ignored.join("; ").slice(0, 200)}`),
        );
      if (step.theirs?.length) {
        const other = 1 - step.player;
        const acts = step.theirs.map((action) => words({ ...step, player: other, action }));
        const told = element("small", "theirs", "before, ");
        told.append(element("bdi", "", match.names[other]), `: ${acts.join("; ")}`);
        entry.append(" ", told);
      }
    } else entry.textContent = words(step);
    entry.addEventListener("click", (event) => {
      event.preventDefault();
      show(index);
    });
    return entry;
  });

  function drawChart() {
    const chart = $("chart");
    /** @type {string[]} */
    const path = [];
    steps.forEach((step, i) => {
      if (step.odds === undefined) return;
      const x = (300 * i) / Math.max(1, steps.length - 1);
      const y = 88 - 86 * step.odds;
      path.push(
        path.length ? `H${x.toFixed(1)}V${y.toFixed(1)}` : `M${x.toFixed(1)} ${y.toFixed(1)}`,
      );
    });
    chart.replaceChildren();
    if (path.length < 2) {
      chart.append(
        shape(
          "text",
          { x: 150, y: 48, "text-anchor": "middle", "font-size": 11, fill: "currentColor" },
          match.captured === undefined
            ? "no value network for these rules"
            : "not known from what one bot saw",
        ),
      );
      return;
    }
    chart.append(
      shape("line", {
        x1: 0,
        x2: 300,
        y1: 45,
        y2: 45,
        stroke: "currentColor",
        "stroke-opacity": 0.3,
        "stroke-dasharray": "3 3",
      }),
    );
    chart.append(
      shape("path", { d: path.join(""), fill: "none", stroke: "var(--p0)", "stroke-width": 2 }),
    );
    chart.append(shape("line", { id: "now", x1: 0, x2: 0, y1: 0, y2: 90, stroke: "currentColor" }));
  }

  /** @param {number} index */
  function show(index) {
    at = Math.min(Math.max(index, 0), steps.length - 1);
    const step = steps[at];
    const before = at > 0 ? steps[at - 1].state : null;
    for (const player of [0, 1]) drawSide(player, step.state, before);
    drawBoard(step, step.state, before);
    for (const entry of entries) entry.removeAttribute("aria-current");
    entries[at].setAttribute("aria-current", "step");
    // Not scrollIntoView, which moves the whole page on a phone.
    const log = $("log");
    const top = entries[at].offsetTop - log.offsetTop;
    if (top < log.scrollTop) log.scrollTop = top;
    else log.scrollTop = Math.max(log.scrollTop, top + entries[at].offsetHeight - log.clientHeight);
    /** @type {HTMLInputElement} */ ($("slider")).value = String(at);
    const now = document.getElementById("now");
    const x = String((300 * at) / Math.max(1, steps.length - 1));
    now?.setAttribute("x1", x);
    now?.setAttribute("x2", x);
    $("odds").textContent =
      step.odds === undefined
        ? ""
        : `${match.names[0]} wins with a chance of ${Math.round(100 * step.odds)} %`;
    $("said").textContent =
      step.action === null ? `Turn ${step.turn}, ${match.names[step.player]}` : words(step);
    /** @type {HTMLAnchorElement} */ ($("analyse")).href = `${match.analyse}&turn=${step.turn}`;
    remember(step.action === null ? `#turn=${step.turn}` : `#turn=${step.turn}&step=${at}`);
    if (at === steps.length - 1) pause();
  }

  /** @type {number|undefined} */
  let remembering;

  /** Put the place into the address, once it stays: browsers refuse to do it often.
   * @param {string} hash */
  function remember(hash) {
    clearTimeout(remembering);
    remembering = setTimeout(() => history.replaceState(null, "", hash), 300);
  }

  function pause() {
    clearInterval(timer);
    timer = undefined;
    $("play").setAttribute("aria-pressed", "false");
    $("play").setAttribute("aria-label", "Play");
  }

  function play() {
    if (timer !== undefined) return pause();
    if (at === steps.length - 1) show(0);
    timer = setInterval(
      () => show(at + 1),
      Number(/** @type {HTMLSelectElement} */ ($("speed")).value),
    );
    $("play").setAttribute("aria-pressed", "true");
    $("play").setAttribute("aria-label", "Pause");
  }

  /** The start of the next or the last turn. @param {number} way */
  function turn(way) {
    let index = at + way;
    while (index > 0 && index < steps.length - 1 && steps[index].action !== null) index += way;
    show(index);
  }

  function drawDecks() {
    for (const player of [0, 1]) {
      const chosen = match.choice[player];
      const box = element("div", `p${player}`);
      box.append(element("bdi", "", match.names[player]));
      const costs = Array(13).fill(0);
      /** @type {Map<number, number>} */
      const counts = new Map();
      for (const base of chosen) {
        costs[Math.min(12, match.cards[base].row[2])] += 1;
        counts.set(base, (counts.get(base) || 0) + 1);
      }
      const curve = element("div", "curve");
      costs.forEach((count, cost) => {
        const bar = element("i");
        bar.dataset.cost = String(cost);
        bar.style.setProperty("height", `${(100 * count) / Math.max(1, ...costs)}%`);
        bar.title = `${count} cards of cost ${cost}`;
        curve.append(bar);
      });
      const list = element("ul", "list");
      for (const [base, count] of [...counts].sort((a, b) => a[0] - b[0])) {
        list.append(element("li", "", `${count} \u00d7 ${match.cards[base].title}`));
      }
      box.append(curve, list);
      $("deckview").append(box);
    }
    drawChoice();
    match.stderr.forEach((text, player) => {
      if (!text) return;
      $("stderr").hidden = false;
      if (match.fault?.player === player)
        /** @type {HTMLDetailsElement} */ ($("stderr")).open = true;
      $("errview").append(
        element("bdi", `p${player}`, match.names[player]),
        element("pre", "", text),
      );
    });
  }

  /** What both chose from, and how often each card was taken. */
  function drawChoice() {
    const table = element("table", "choice");
    /** @param {string} tag @param {string[]} cells */
    const row = (tag, cells) => {
      const made = element("tr");
      for (const text of cells) made.append(element(tag, "", text));
      table.append(made);
    };
    if (match.offers.length === 1) {
      const taken = match.choice.map((chosen) => {
        /** @type {Map<number, number>} */
        const counts = new Map();
        for (const base of chosen) counts.set(base, (counts.get(base) || 0) + 1);
        return counts;
      });
      const times = (/** @type {number} */ base) => taken.map((counts) => counts.get(base) || 0);
      row("th", ["taken of the cards on offer", match.names[0], match.names[1]]);
      const order = [...match.offers[0]].sort(
        (a, b) => times(b)[0] + times(b)[1] - times(a)[0] - times(a)[1] || a - b,
      );
      for (const base of order)
        row("td", [match.cards[base].title, ...times(base).map((n) => (n ? String(n) : "\u2013"))]);
    } else {
      row("th", ["pick", "offered", match.names[0], match.names[1]]);
      match.offers.forEach((offer, pick) => {
        const chosen = match.choice.map((cards) =>
          pick < cards.length ? nameOf(cards[pick]) : "\u2013",
        );
        row("td", [String(pick + 1), offer.map(nameOf).join(", "), ...chosen]);
      });
    }
    $("deckview").append(table);
  }

  function start() {
    $("title").append(
      element("bdi", "p0", match.names[0]),
      " against ",
      element("bdi", "p1", match.names[1]),
    );
    const outcome = [`LOCM ${match.rules}`];
    if (match.captured === undefined) {
      outcome.push(`, seed ${match.params.seed ?? "unknown"}: `);
      outcome.push(match.winner === null ? "no winner" : `${match.names[match.winner]} won`);
    } else outcome.push(", as one of the bots saw it");
    if (match.fault)
      outcome.push(
        `; ${match.names[match.fault.player]} lost by a fault: ${match.fault.kind}: ${match.fault.message}`,
      );
    $("outcome").textContent = outcome.join("");
    $("analyse").hidden = !match.analyse;
    $("outcome").classList.toggle("fault", Boolean(match.fault));
    document.title = `${match.names[0]} against ${match.names[1]}`;
    const view = /** @type {HTMLSelectElement} */ ($("view"));
    for (const player of [0, 1])
      view.options[player + 1].textContent = `only ${match.names[player]}`;
    if (match.view !== null) view.value = String(match.view);
    drawDecks();
    if (!steps.length) {
      $("board").textContent = "The match ended before the battle.";
      return;
    }
    $("log").append(...entries);
    drawChart();
    const slider = /** @type {HTMLInputElement} */ ($("slider"));
    slider.max = String(steps.length - 1);
    slider.addEventListener("input", () => show(Number(slider.value)));
    const buttons = {
      first: () => show(0),
      prevturn: () => turn(-1),
      prev: () => show(at - 1),
      play,
      next: () => show(at + 1),
      nextturn: () => turn(1),
      last: () => show(steps.length - 1),
    };
    for (const [id, act] of Object.entries(buttons)) $(id).addEventListener("click", act);
    $("speed").addEventListener("change", () => {
      if (timer !== undefined) {
        pause();
        play();
      }
    });
    $("view").addEventListener("change", () => show(at));
    $("chart").addEventListener("click", (event) => {
      const box = $("chart").getBoundingClientRect();
      show(Math.round(((event.clientX - box.left) / box.width) * (steps.length - 1)));
    });
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowLeft: buttons.prev,
      ArrowRight: buttons.next,
      ArrowUp: buttons.prevturn,
      ArrowDown: buttons.nextturn,
      Home: buttons.first,
      End: buttons.last,
      " ": play,
    };
    document.addEventListener("keydown", (event) => {
      const target = /** @type {HTMLElement} */ (event.target);
      if (
        event.ctrlKey ||
        event.altKey ||
        event.metaKey ||
        ["INPUT", "SELECT"].includes(target.tagName)
      )
        return;
      if (event.key === " " && ["BUTTON", "SUMMARY"].includes(target.tagName)) return;
      const act = keys[event.key];
      if (!act) return;
      event.preventDefault();
      act();
    });
    const follow = () => {
      const place = new URLSearchParams(location.hash.slice(1));
      const wanted = place.get("step");
      const turnNumber = Number(place.get("turn") ?? -1);
      const first = steps.findIndex((step) => step.turn === turnNumber);
      show(
        wanted !== null && Number.isInteger(Number(wanted)) ? Number(wanted) : Math.max(0, first),
      );
    };
    window.addEventListener("hashchange", follow);
    follow();
  }
  start();
})();
