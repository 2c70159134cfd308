// @ts-check
// A match, step by step: the board, the list of moves, the slider, the chart of chances. Pages add
// panels to it; a replay's file has it as it is.

import { Board } from "./board.js";
import { painter } from "./cards.js";
import "./cardtext.js";
import { chancesChart, drawChances, markPlace } from "./chances.js";
import { copiesOf, manaCurve } from "./curve.js";
import { element, forPage, icon, isolated, number, percent, select } from "./dom.js";
import { Written } from "./written.js";

/** @typedef {import("./board.js").Position} Position */
/** @typedef {{turn: number, player: number, action: string|null, words: string, board: Position,
 *   answer?: string|null, chat?: string, illegal?: string[], stderr?: string, ms?: number,
 *   odds?: number, theirs?: string[]}} Step */
/** @typedef {import("./cards.js").Deck & {rules: string, lanes: number, names: string[],
 *   seat: number|null, view?: number|null, winner: number|null,
 *   fault: null|{player: number, kind: string, message: string}, params: Record<string, string>,
 *   stderr: string[], choice_stderr?: string[], choice: string[][], offers: string[][],
 *   steps: Step[], captured?: number, running?: boolean, kind?: string, agents?: string[],
 *   files?: string}} Match */

const CONTROLS = {
  first: "M3 3h3v14H3zM17 3v14L7 10z",
  prevturn: "M10 3v14L1 10zM19 3v14l-9-7z",
  prev: "M15 3v14L5 10z",
  next: "M5 3v14l10-7z",
  nextturn: "M1 3v14l9-7zM10 3v14l9-7z",
  last: "M3 3v14l10-7zM14 3h3v14h-3z",
  play: "M4 2l14 8-14 8z",
  pause: "M4 3h4v14H4zM12 3h4v14h-4z",
  flip: "M6 2L1 7h3v10h4V7h3zM14 18l5-5h-3V3h-4v10H9z",
};
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

export class Viewer {
  /** @param {HTMLElement} host @param {Match} data @param {(action: string) => void} [act] what a
   * click on the board does where there are actions */
  constructor(host, data, act) {
    this.data = data;
    this.steps = data.steps;
    this.at = 0;
    /** Steps beside the match, and which of them is shown. @type {{steps: Step[], at: number}|null} */
    this.line = null;
    /** Called after each change of the position or the panel that is shown. @type {(() => void)[]} */
    this.listeners = [];
    /** Keys of panels. @type {Record<string, () => void>} */
    this.keys = {};
    /** What can be done in the position that is shown.
     * @type {(() => Partial<import("./board.js").Scene>)|undefined} */
    this.offer = undefined;
    /** What a click on the board does there. @type {(action: string) => void} */
    this.act = act ?? (() => {});
    /** The entries of the list of moves. @type {HTMLElement[]} */
    this.entries = [];
    this.draw = painter(data);
    const below = data.view ?? data.seat ?? 0;
    const match = { names: data.names, lanes: data.lanes, below };
    this.board = new Board(data, this.draw, match, (action) => this.act(action));
    this.board.view = data.view ?? 2;
    /** @type {number|undefined} */
    this.timer = undefined;
    /** @type {number|undefined} */
    this.remembering = undefined;
    this.log = element("ol", { id: "log", "aria-label": "Moves", tabindex: "0" });
    this.written = new Written(this.log);
    this.tabs = element("div", { class: "tabs", role: "tablist", "aria-label": "Panels" });
    this.chart = chancesChart("Chance of winning by turn", "chart");
    this.odds = element("p", { id: "odds" });
    this.said = element("p", { id: "said", "aria-live": "polite" });
    this.slider = /** @type {HTMLInputElement} */ (
      element("input", { id: "slider", type: "range", min: 0, value: 0, "aria-label": "Step" })
    );
    this.slider.addEventListener("input", () => this.show(Number(this.slider.value)));
    /** What can be done, in a game that is played. */
    this.tools = element("div", { id: "tools", class: "tools" });
    this.panels = element("div", { class: "panels" });
    const views = /** @type {[string, string][]} */ ([
      ["2", "both hands"],
      ...data.names.map((name, player) => [String(player), `only ${isolated(name)}`]),
    ]);
    const view = select("view", "Hands", views, String(this.board.view));
    /** Whether a person plays, from whom the other hand is kept. */
    this.viewKept = false;
    view.addEventListener("change", (event) =>
      this.see(Number(/** @type {HTMLSelectElement} */ (event.target).value)),
    );
    this.speed = /** @type {HTMLSelectElement} */ (
      select(
        "speed",
        "Speed",
        [
          ["2000", "slow"],
          ["900", "normal"],
          ["350", "fast"],
        ],
        "900",
      ).querySelector("select")
    );
    this.speed.addEventListener("change", () => {
      if (this.timer === undefined) return;
      this.pause();
      this.play();
    });
    /** @param {string} id @param {string} text @param {() => void} onclick */
    const button = (id, text, onclick) => {
      const made = element("button", { id, title: text, "aria-label": text, onclick });
      made.append(icon(CONTROLS[/** @type {keyof typeof CONTROLS} */ (id)]));
      return made;
    };
    this.playing = button("play", "Play", () => this.play());
    this.controls = element(
      "div",
      { class: "controls" },
      button("first", "First step", () => this.show(0)),
      button("prevturn", "Previous turn", () => this.turn(-1)),
      button("prev", "Previous step", () => this.walk(-1)),
      this.playing,
      button("next", "Next step", () => this.walk(1)),
      button("nextturn", "Next turn", () => this.turn(1)),
      button("last", "Last step", () => this.show(this.steps.length - 1)),
      button("flip", "Flip the board", () => this.flip()),
    );
    const speed = /** @type {HTMLElement} */ (this.speed.parentElement);
    this.settings = element("div", { class: "settings" }, view, speed);
    this.stage = element("div", { class: "stage" }, this.board.root);
    this.title = element("h1", { id: "title" });
    this.outcome = element("p", { id: "outcome" });
    this.root = element(
      "div",
      { class: "game" },
      element("div", { class: "head" }, this.title, this.outcome),
      this.stage,
      element(
        "div",
        { class: "aside" },
        this.tools,
        this.said,
        element("div", { class: "chances" }, this.chart, this.odds),
        this.controls,
        this.slider,
        this.tabs,
        this.panels,
        this.settings,
      ),
    );
    this.addPanel("moves", "Moves", this.log);
    this.addPanel("decks", "Cards", this.cardsPanel());
    this.addPanel("about", "About", this.aboutPanel());
    this.keys = {
      m: () => this.open("moves"),
      c: () => this.open("decks"),
      i: () => this.open("about"),
    };
    this.open("moves");
    this.chart.addEventListener("click", (event) => {
      const box = this.chart.getBoundingClientRect();
      const { clientX } = /** @type {MouseEvent} */ (event);
      this.show(Math.round(((clientX - box.left) / box.width) * (this.steps.length - 1)));
    });
    host.replaceChildren(this.root);
    this.caption();
    this.list();
    this.follow();
    addEventListener("hashchange", () => this.follow());
    document.addEventListener("keydown", (event) => this.key(event));
  }

  /** The step that is shown. */
  get step() {
    return this.line ? this.line.steps[this.line.at] : this.steps[this.at];
  }

  /** The step before it. @returns {Step|undefined} */
  get before() {
    if (!this.line) return this.steps[this.at - 1];
    return this.line.at ? this.line.steps[this.line.at - 1] : this.steps[this.at];
  }

  /** The index of the step that begins the turn of a step. @param {number} index */
  turnStart(index) {
    while (index > 0 && this.steps[index].action !== null) index -= 1;
    return index;
  }

  /** Add a panel beside the board. @param {string} id @param {string} title
   * @param {HTMLElement} content */
  addPanel(id, title, content) {
    const tab = element("button", {
      id: `tab-${id}`,
      role: "tab",
      "aria-controls": id === "moves" ? "log" : id,
      "aria-selected": "false",
      text: title,
      onclick: () => this.open(id),
    });
    if (id !== "moves") content.id = id;
    content.dataset.panel = id;
    content.classList.add("tabpanel");
    if (id !== "moves") {
      content.setAttribute("role", "tabpanel");
      content.setAttribute("aria-labelledby", `tab-${id}`);
      content.tabIndex = 0;
    }
    content.hidden = true;
    this.tabs.append(tab);
    this.panels.append(content);
  }

  /** Show a panel. @param {string} id */
  open(id) {
    for (const tab of this.tabs.children) {
      const chosen = tab.id === `tab-${id}`;
      tab.setAttribute("aria-selected", String(chosen));
    }
    for (const panel of /** @type {Iterable<HTMLElement>} */ (this.panels.children))
      panel.hidden = panel.dataset.panel !== id;
    this.reveal();
    this.changed();
  }

  /** Whether a panel is shown. @param {string} id */
  isOpen(id) {
    return [...this.panels.children].some(
      (panel) =>
        !(/** @type {HTMLElement} */ (panel).hidden) &&
        /** @type {HTMLElement} */ (panel).dataset.panel === id,
    );
  }

  // ------------------------------------------------------------------------------ what is shown

  /** Show a step of the match. @param {number} index */
  show(index) {
    if (!this.steps.length) {
      this.board.root.classList.add("empty");
      this.said.textContent = this.data.running ? "" : "The match ended before the battle.";
      return;
    }
    this.line = null;
    this.board.pointed = [];
    this.at = Math.max(0, Math.min(this.steps.length - 1, index));
    this.redraw();
    const { step } = this;
    this.remember(
      step.action === null ? `#turn=${step.turn}` : `#turn=${step.turn}&step=${this.at}`,
    );
    if (this.at === this.steps.length - 1) this.pause();
  }

  /** Show steps that go on from the step that is shown, beside the match.
   * @param {Step[]} steps @param {number} [at] */
  showLine(steps, at = steps.length - 1) {
    this.board.pointed = [];
    this.line = steps.length ? { steps, at: Math.max(0, at) } : null;
    this.redraw();
  }

  redraw() {
    const { step, before } = this;
    if (!step) return;
    this.board.root.classList.remove("empty");
    const start = this.line ? undefined : this.steps[this.turnStart(this.at)];
    this.board.show({
      board: step.board,
      before: before?.board ?? null,
      acted: step.action,
      chat: start?.chat,
      player: step.player,
      ...this.offer?.(),
    });
    for (const entry of this.entries) entry.removeAttribute("aria-current");
    this.entries[this.at]?.setAttribute("aria-current", "step");
    this.reveal();
    this.slider.value = String(this.at);
    markPlace(this.chart, this.steps.length - 1, this.at);
    const names = this.data.names;
    this.odds.replaceChildren();
    if (step.odds !== undefined)
      this.odds.append(
        "Value network: ",
        element("bdi", { text: names[0] }),
        `, ${percent(step.odds)} chance of winning`,
      );
    this.said.replaceChildren(
      element("bdi", { text: step.words || `Turn ${step.turn}, ${names[step.player]}` }),
    );
    this.changed();
  }

  /** Tell the listeners that something else is shown. */
  changed() {
    for (const listener of this.listeners) listener();
  }

  /** Scroll the list of moves to the step that is shown. */
  reveal() {
    // Not scrollIntoView, which moves the whole page on a phone.
    const entry = this.entries[this.at];
    if (!entry) return;
    const top = entry.offsetTop;
    if (top < this.log.scrollTop) this.log.scrollTop = top;
    else
      this.log.scrollTop = Math.max(
        this.log.scrollTop,
        top + entry.offsetHeight - this.log.clientHeight,
      );
  }

  /** Replace the steps from an index on, in a match that is being played. @param {number} start
   * @param {Step[]} steps */
  grow(start, steps) {
    const last = this.at >= this.steps.length - 1;
    this.steps.splice(start, this.steps.length, ...steps);
    this.list();
    if (last || this.at >= this.steps.length) this.show(this.steps.length - 1);
    else this.redraw();
  }

  /** @param {number} way */
  walk(way) {
    if (!this.line) return this.show(this.at + way);
    const at = this.line.at + way;
    if (at < 0) return this.show(this.at);
    if (at < this.line.steps.length) this.line.at = at;
    this.redraw();
  }

  /** The start of the next or the previous turn. @param {number} way */
  turn(way) {
    let index = this.at + way;
    const last = this.steps.length - 1;
    while (index > 0 && index < last && this.steps[index].action !== null) index += way;
    this.show(index);
  }

  flip() {
    this.board.flip();
  }

  /** Show the hand of one player and no other, until the person may choose again (null).
   * @param {number|null} player */
  keepView(player) {
    this.viewKept = player !== null;
    const box = /** @type {HTMLElement} */ (this.settings.querySelector("#view"));
    /** @type {HTMLElement} */ (box.closest("label")).hidden = this.viewKept;
    if (player !== null) this.board.view = player;
  }

  /** Whose hand is shown. @param {number} view */
  see(view) {
    if (this.viewKept) return;
    this.board.view = view;
    const box = /** @type {HTMLSelectElement} */ (this.settings.querySelector("#view"));
    box.value = String(view);
    this.redraw();
  }

  /** Put the place into the address once it stays: browsers limit how often that may be done.
   * @param {string} hash */
  remember(hash) {
    if (this.data.running) return;
    clearTimeout(this.remembering);
    this.remembering = setTimeout(() => history.replaceState(null, "", hash), 300);
  }

  /** Show what the address names. */
  follow() {
    const place = new URLSearchParams(location.hash.slice(1));
    const wanted = place.get("step");
    const turn = Number(place.get("turn") ?? -1);
    const first = this.steps.findIndex((step) => step.turn === turn);
    const known = wanted !== null && Number.isInteger(Number(wanted));
    this.show(known ? Number(wanted) : Math.max(0, first));
  }

  pause() {
    clearInterval(this.timer);
    this.timer = undefined;
    this.playButton("Play", "play");
  }

  play() {
    if (this.timer !== undefined) return this.pause();
    if (this.at === this.steps.length - 1) this.show(0);
    this.timer = setInterval(() => this.show(this.at + 1), Number(this.speed.value));
    this.playButton("Pause", "pause");
  }

  /** @param {string} text @param {"play"|"pause"} picture */
  playButton(text, picture) {
    this.playing.setAttribute("aria-label", text);
    this.playing.title = text;
    this.playing.replaceChildren(icon(CONTROLS[picture]));
  }

  /** @param {KeyboardEvent} event */
  key(event) {
    if (!this.root.isConnected || !forPage(event)) return;
    /** @type {Record<string, () => void>} */
    const keys = {
      ArrowLeft: () => this.walk(-1),
      ArrowRight: () => this.walk(1),
      ArrowUp: () => this.turn(-1),
      ArrowDown: () => this.turn(1),
      Home: () => this.show(0),
      End: () => this.show(this.steps.length - 1),
      " ": () => this.play(),
      f: () => this.flip(),
      v: () => this.see((this.board.view + 1) % 3),
      ...this.keys,
    };
    const act = keys[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  }

  // ---------------------------------------------------------------------------------- the panels

  /** Show who plays, by which rules, and how the match ended. */
  caption() {
    const { data } = this;
    const { names, fault } = data;
    this.title.replaceChildren(
      element("bdi", { class: "p0", text: names[0] }),
      " against ",
      element("bdi", { class: "p1", text: names[1] }),
    );
    const nameOf = (/** @type {number} */ player) => element("bdi", { text: names[player] });
    /** @type {(Node|string)[]} */
    const words = [`LOCM ${data.rules}`];
    if (data.captured !== undefined) words.push(", as one of the bots saw it");
    else if (data.params.seed !== undefined) words.push(`, seed ${data.params.seed}`);
    if (data.winner !== null) words.push(": ", nameOf(data.winner), " won");
    else if (!data.running && data.captured === undefined && data.params.seed !== undefined)
      words.push(": no winner");
    if (fault)
      words.push("; ", nameOf(fault.player), ` lost by a fault: ${fault.kind}: ${fault.message}`);
    this.outcome.replaceChildren(...words);
    this.outcome.title = this.outcome.textContent ?? "";
    this.outcome.classList.toggle("fault", Boolean(fault));
    document.title = `${names[0]} against ${names[1]}`;
  }

  /** Draw the list of moves and the chart again. */
  list() {
    this.entries = this.steps.map((step, index) => {
      const entry = element("li", { class: step.action === null ? `turn p${step.player}` : "" });
      if (step.action === null) this.turnEntry(entry, step);
      else entry.append(element("bdi", { text: step.words }));
      entry.addEventListener("click", (event) => {
        event.preventDefault();
        this.show(index);
      });
      return entry;
    });
    this.log.replaceChildren(...this.entries);
    this.slider.max = String(Math.max(0, this.steps.length - 1));
    this.drawChart();
  }

  /** @param {HTMLElement} entry @param {Step} step */
  turnEntry(entry, step) {
    const { names } = this.data;
    const link = element("a", { href: `#turn=${step.turn}`, text: `Turn ${step.turn}` });
    entry.append(link, " ", element("bdi", { text: names[step.player] }));
    if (step.ms) entry.append(" ", element("small", { text: `${number(step.ms)} ms` }));
    if (step.chat) entry.append(" ", element("bdi", { text: `\u201c${step.chat}\u201d` }));
    if (step.illegal?.length) {
      const text = `not legal: ${step.illegal.join("; ").slice(0, 400)}`;
      entry.append(" ", element("small", { class: "illegal", text }));
    }
    if (step.theirs?.length) {
      const told = element("small", { class: "theirs" }, "before, ");
      const acts = `: ${step.theirs.join("; ")}`;
      told.append(element("bdi", { text: names[1 - step.player] }), acts);
      entry.append(" ", told);
    }
    if (step.stderr) entry.append(this.written.box(step.stderr));
  }

  drawChart() {
    const { chart, steps } = this;
    /** @type {[number, number][]} */
    const points = [];
    steps.forEach(({ odds }, i) => {
      if (odds === undefined) return;
      if (points.length) points.push([i, points[points.length - 1][1]]);
      points.push([i, odds]);
    });
    drawChances(chart, steps.length - 1, points);
    /** @type {HTMLElement} */ (chart.parentElement).hidden = points.length < 2;
  }

  /** The panel of both decks and what was on offer. */
  cardsPanel() {
    const { data } = this;
    const box = element("div", {});
    data.choice.forEach((chosen, player) => {
      if (!chosen.length) return;
      const list = element("ul", { class: "cardlist" });
      for (const [key, count] of copiesOf(chosen, data))
        list.append(
          element(
            "li",
            { title: data.cards[key].about },
            element("span", { class: "cost", text: data.cards[key].row[2] }),
            element("bdi", { text: data.cards[key].title }),
            count > 1 ? ` \u00d7${count}` : "",
          ),
        );
      const curve = manaCurve(chosen.map((key) => data.cards[key].row));
      curve.classList.add(`p${player}`);
      box.append(
        element("h2", {}, element("bdi", { class: `p${player}`, text: data.names[player] })),
        curve,
        list,
      );
    });
    data.choice_stderr?.forEach((text, player) => {
      if (!text) return;
      const name = element("bdi", { class: `p${player}`, text: data.names[player] });
      box.append(
        element(
          "details",
          { class: "written" },
          element("summary", {}, "stderr of ", name, " in the choice phase"),
          element("pre", { text, tabindex: "0" }),
        ),
      );
    });
    if (data.offers.length) box.append(this.offersTable());
    return box;
  }

  /** What both chose from, and how often each card was taken. */
  offersTable() {
    const { data } = this;
    const table = element("table", { class: "choice" });
    /** @param {string} tag @param {string[]} cells */
    const row = (tag, cells) =>
      table.append(
        element("tr", {}, ...cells.map((text) => element(tag, {}, element("bdi", { text })))),
      );
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
   * @param {string} packed */
  downloads(packed) {
    const files = async () => {
      const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
      const unpacked = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
      return new Response(unpacked).json();
    };
    /** @param {string} id @param {string} text @param {() => void} onclick */
    const button = (id, text, onclick) => element("button", { id, text, onclick });
    return element(
      "div",
      { class: "bar" },
      button("save-log", "Log", async () => save((await files()).log, "match.json")),
      button("save-position", "Position", async () =>
        save(`${(await files()).positions[this.at]}\n`, "position.txt"),
      ),
    );
  }

  /** The panel of seeds, parameters, keys, and what the bots wrote. */
  aboutPanel() {
    const { data } = this;
    const box = element("div", {});
    const list = element("dl", { class: "facts" });
    data.names.forEach((name, player) => {
      const who = data.agents?.[player] || name;
      const label = element("dt", {}, `player ${player}`);
      const value = element("dd", {}, copied(who, `Copy player ${player}`));
      if (who !== name) value.prepend(element("bdi", { text: name }), " ");
      list.append(label, value);
    });
    for (const [name, value] of [["rules", data.rules], ...Object.entries(data.params)])
      list.append(element("dt", { text: name }), element("dd", {}, copied(value, `Copy ${name}`)));
    box.append(list);
    if (data.files) box.prepend(element("h2", { text: "Download" }), this.downloads(data.files));
    const errors = element("div", { id: "stderr", hidden: !data.stderr.some(Boolean) });
    data.stderr.forEach((text, player) => {
      if (text)
        errors.append(
          element("h2", {}, "Standard error of ", element("bdi", { text: data.names[player] })),
          element("pre", { text }),
        );
    });
    const keys = KEYS.flatMap(([key, does]) => [
      element("dt", {}, element("kbd", { text: key })),
      element("dd", { text: does }),
    ]);
    box.append(errors, element("h2", { text: "Keys" }), element("dl", { class: "facts" }, ...keys));
    return box;
  }
}

/** Save a text as a file. @param {string} text @param {string} name */
export function save(text, name) {
  const href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  element("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

/** A button with a text that a click copies. @param {string} text @param {string} label */
export function copied(text, label) {
  const button = element("button", { class: "copy", title: label, text });
  button.addEventListener("click", async () => {
    await navigator.clipboard?.writeText(text).catch(() => {});
    button.classList.add("done");
    setTimeout(() => button.classList.remove("done"), 900);
  });
  return button;
}
