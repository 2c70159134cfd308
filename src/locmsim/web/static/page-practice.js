// @ts-check
// The page Practice: turns that gave something away, to be played again, and puzzles.

import { Board } from "./board.js";
import "./cardtext.js";
import {
  $,
  attempt,
  button,
  counted,
  element,
  isolated,
  named,
  notice,
  number,
  onKeys,
  panel,
  percent,
  refill,
  select,
  valueOf,
} from "./dom.js";
import { follow } from "./follow.js";
import { form } from "./form.js";
import { LastJob } from "./jobs.js";
import { Teller } from "./local.js";
import { mark, solvedOf, wasTried } from "./progress.js";
import { address, ask, tell } from "./site.js";

/** @typedef {import("./viewer.js").Step} Step */
/** What the server calls an exercise. @typedef {{puzzle: number}|{match: string, turn: number}} Place */
/** @typedef {{id: string, place: Place, title: string}} Exercise */
/** @typedef {{puzzle: number, id: string, difficulty: string, rules: string}} Puzzle */
/** @typedef {{match: string, turn: number, player: number, names: string[], loss: number,
 *   id: string}} Mistake */
/** @typedef {import("./cards.js").Deck & {id: string, rules: string, names: string[], lanes: number,
 *   seat: number, steps: Step[], actions: string[]}} Data */

/** Numbers of matches of a player that are gone through. */
const COUNTS = ["1", "5", "20", "100"];

/** The exercise on the board. */
class Exercises {
  constructor() {
    /** The exercises that can be gone through, and which of them is shown.
     * @type {Exercise[]} */
    this.list = [];
    this.at = -1;
    /** @type {Data|null} */
    this.data = null;
    /** @type {Board|null} */
    this.board = null;
    /** The turn so far, and the positions from its start on. @type {string[]} */
    this.actions = [];
    /** @type {Step[]} */
    this.steps = [];
    /** What is legal now. @type {string[]} */
    this.legal = [];
    /** What the answer is worth, once it was given. @type {string[]|null} */
    this.verdict = null;
    /** What the server is being asked. @type {Promise<unknown>|null} */
    this.busy = null;
    /** Called when something was solved or another exercise is shown. */
    this.changed = () => {};

    this.title = element("h1#exercise");
    this.end = button("#end.main", "End turn", () => this.answer(), { title: "Shift+E" });
    this.undo = button("#undo", "Undo", () => this.takeBack(), { title: "u" });
    this.again = button("#again", "Restart", () => this.restart());
    this.solve = button("#solve", "Solution", () => this.solution());
    this.next = button("#next", "Next", () => this.goOn(), { title: "n" });
    this.stage = element("div.stage");
    this.told = element("div#verdict.ending", { hidden: true, role: "status" });
    this.found = element("div#solution");
    this.root = element(
      "section.today",
      { "aria-labelledby": "exercise" },
      element("div.bar", this.title, this.end, this.undo, this.again, this.solve, this.next),
      this.stage,
    );
    onKeys(() => ({ E: () => this.answer(), u: () => this.takeBack(), n: () => this.goOn() }));
  }

  get exercise() {
    return this.list[this.at];
  }

  /** Go through other exercises. @param {Exercise[]} list @param {number} at */
  begin(list, at) {
    this.list = list;
    this.show(at);
  }

  /** @param {number} at */
  show(at) {
    this.ask(async () => {
      const exercise = this.list[at];
      /** @type {Data} */
      const data = await tell("/api/practice/open", exercise.place);
      exercise.id = data.id;
      this.at = at;
      this.data = data;
      this.board = new Board(data, (action) => this.act(action));
      this.title.textContent = exercise.title;
      this.stage.replaceChildren(this.board.root);
      const place = new URLSearchParams();
      for (const [name, value] of Object.entries(exercise.place)) place.set(name, String(value));
      history.replaceState(null, "", `#${place}`);
      this.reset();
      this.changed();
    }, true);
  }

  /** The next exercise that is not solved, or else the next one. */
  goOn() {
    const { list, at } = this;
    if (!list.length) return;
    const after = [...list.keys()].map((i) => (at + 1 + i) % list.length);
    this.show(after.find((i) => !solvedOf([list[i].id])) ?? after[0]);
  }

  /** Ask the server; meanwhile nothing else can be done. @param {() => Promise<void>} work
   * @param {boolean} [patient] whether it waits for what is being asked */
  async ask(work, patient = false) {
    while (this.busy) {
      if (!patient) return;
      await this.busy;
    }
    this.root.setAttribute("aria-busy", "true");
    this.busy = attempt(async () => {
      await work();
      notice();
    });
    await this.busy;
    this.busy = null;
    this.root.setAttribute("aria-busy", "false");
  }

  restart() {
    if (!this.busy) this.reset();
  }

  /** Begin the turn again. */
  reset() {
    if (!this.data) return;
    this.actions = [];
    this.steps = this.data.steps;
    this.legal = this.data.actions;
    this.verdict = null;
    this.told.replaceChildren();
    this.found.replaceChildren();
    this.draw();
  }

  draw(steps = this.steps, at = steps.length - 1) {
    const { data, board, verdict } = this;
    if (!data || !board) return;
    const step = steps[at];
    const free = !verdict && steps === this.steps;
    board.pointed = [];
    board.show({
      board: step.board,
      before: steps[at - 1]?.board ?? null,
      acted: step.action,
      ...(free ? { actions: this.legal } : { prompt: verdict?.[0] ?? "" }),
    });
    this.end.toggleAttribute("disabled", !free);
    this.undo.toggleAttribute("disabled", !free || !this.actions.length);
    this.told.hidden = !verdict;
    document.body.dataset.done = String(this.actions.length);
  }

  /** The position and those that follow it. @param {any} found by `walk` of the machine
   * @param {string[]} actions @returns {Step[]} */
  after(found, actions) {
    const data = /** @type {Data} */ (this.data);
    Object.assign(data.cards, found.cards);
    const [first] = data.steps;
    return [first, ...new Teller(data).steps(actions, first.board, found)];
  }

  /** Show the position after some actions of the turn. @param {string[]} actions */
  async to(actions) {
    const found = await tell("/api/practice/step", { ...this.exercise.place, actions });
    this.actions = actions;
    this.steps = this.after(found, actions);
    this.legal = found.actions;
    this.draw();
  }

  /** @param {string} action */
  act(action) {
    this.ask(async () => {
      await this.to([...this.actions, action]);
      if (this.steps[this.steps.length - 1].board.winner !== null) await this.check();
    });
  }

  takeBack() {
    if (this.verdict || !this.actions.length) return;
    this.ask(() => this.to(this.actions.slice(0, -1)));
  }

  /** End the turn. */
  answer() {
    if (this.data && !this.verdict) this.ask(() => this.check());
  }

  async check() {
    const { exercise, actions } = this;
    const found = await tell("/api/practice/check", { ...exercise.place, actions });
    mark(exercise.id, found.solved);
    this.verdict = found.words;
    this.told.replaceChildren(
      element("h2", found.solved ? "Well played" : "There is something better"),
      ...found.words.map((/** @type {string} */ text) => element("p", text)),
    );
    this.draw();
    this.changed();
    // A puzzle stays one until it is given up.
    if ("match" in exercise.place) await this.tellSolution();
  }

  /** Show the best turn, which gives a puzzle up. */
  solution() {
    if (this.data) this.ask(() => this.tellSolution());
  }

  async tellSolution() {
    const { exercise } = this;
    const found = await tell("/api/practice/solution", exercise.place);
    mark(exercise.id, false);
    const steps = this.after(found, found.actions);
    const words = steps.slice(1).map((step) => step.words);
    const rows = (words.length ? words : ["End the turn"]).map(
      (/** @type {string} */ text, /** @type {number} */ i) =>
        element(
          "li",
          button(".line", element("bdi", text), () =>
            this.draw(steps, Math.min(i + 1, steps.length - 1)),
          ),
        ),
    );
    this.found.replaceChildren(
      element("h2", "The best turn"),
      element("ol", ...rows),
      button("#arrows", "Show it on the board", () => {
        this.draw(steps, 0);
        this.board?.point(found.actions);
      }),
    );
    const { place } = exercise;
    if ("match" in place) {
      const there = address(`/match/${place.match}#turn=${place.turn}`);
      this.found.append(" ", element("a", { href: there }, "See the match"));
    }
    this.changed();
  }
}

const table = new Exercises();

/** Rows to choose an exercise by; those that were solved say so. @param {Exercise[]} list */
function rows(list) {
  return list.map((one, i) => {
    const how = solvedOf([one.id]) ? "solved" : wasTried(one.id) ? "tried" : "";
    const sign = { solved: "\u2713 ", tried: "\u2022 ", "": "" }[how];
    const current = table.list === list && table.at === i;
    return element(
      "li",
      element(
        "button.line",
        {
          "data-exercise": one.id,
          "aria-current": current ? "true" : null,
          onclick: () => table.begin(list, i),
        },
        sign && element("span", { "aria-hidden": "true" }, sign),
        how && element("span.sr", `${how}: `),
        element("bdi", one.title),
      ),
    );
  });
}

// -------------------------------------------------------------------------------------- puzzles

/** @param {Puzzle} puzzle @returns {Exercise} */
const exerciseOf = ({ puzzle, id, difficulty, rules }) => ({
  id,
  place: { puzzle },
  title: `Puzzle ${puzzle + 1}, ${difficulty}, rules ${rules}: win this turn`,
});

/** The puzzles by difficulty, and how many of them are solved.
 * @param {{difficulties: string[], puzzles: Puzzle[]}} all */
function puzzlePanel(all) {
  const rules = [...new Set(all.puzzles.map((one) => one.rules))].sort().reverse();
  const choice = select("rules", "Rules", [["", "all"], ...named(rules)], "", () => draw());
  const buttons = element("div#puzzles.bar");
  /** @param {string} difficulty */
  const some = (difficulty) =>
    all.puzzles
      .filter((one) => one.difficulty === difficulty && ["", one.rules].includes(valueOf("rules")))
      .map(exerciseOf);
  const begin = (/** @type {Exercise[]} */ list) => {
    const first = list.findIndex((one) => !solvedOf([one.id]));
    if (list.length) table.begin(list, Math.max(0, first));
  };
  const draw = () =>
    buttons.replaceChildren(
      ...all.difficulties.map((difficulty) => {
        const list = some(difficulty);
        const solved = solvedOf(list.map((one) => one.id));
        return button("", `${difficulty}: ${solved} of ${list.length} solved`, () => begin(list), {
          "data-difficulty": difficulty,
        });
      }),
    );
  const hint = element("p.dim", "Exactly one turn wins at once: find it.");
  const root = panel("Puzzles", hint, choice, buttons);
  return { root, draw, begin: () => begin(some(all.difficulties[0])) };
}

// ------------------------------------------------------------------------------------- mistakes

/** @param {Mistake} mistake @returns {Exercise} */
const exerciseIn = ({ match, turn, player, names, loss, id }) => ({
  id,
  place: { match, turn },
  title: `Turn ${turn}, ${isolated(names[player])} against ${isolated(names[1 - player])}: ${percent(loss)} given away`,
});

/** Turns that gave something away: of one match, or of a player's matches.
 * @param {string} person who plays on the pages */
function mistakePanel(person) {
  /** @type {Exercise[]} */
  let list = [];
  const last = new LastJob();
  const progress = element("p#searched.dim.small", { "aria-live": "polite" });
  const found = element("ul#mistakes.plain");
  const draw = () => found.replaceChildren(...rows(list));
  /** @param {Record<string, any>} data */
  const start = (data) => {
    list = [];
    notice();
    /** Whether the first mistake is on the board. */
    let begun = false;
    return last.run(
      () => tell("/api/practice/mistakes", data),
      (now) => {
        list.splice(0, list.length, ...(now.result?.mistakes ?? []).map(exerciseIn));
        if (!begun && list.length) table.begin(list, 0);
        begun ||= list.length > 0;
        const state = now.state === "running" ? "Searching\u2026" : "Done:";
        const matches = `${number(now.done)} of ${counted(now.of, "match", "matches")}`;
        progress.textContent = `${state} ${matches}, ${counted(list.length, "turn")} gave something away.`;
        draw();
      },
    );
  };
  const none = element("p.dim", "Play a match, or open one, to learn from it.");
  const asks = form(
    "",
    () =>
      start({
        player: valueOf("player"),
        source: valueOf("source"),
        matches: Number(valueOf("count")),
      }),
    select("player", "Of", []),
    select("source", "In", []),
    select("count", "Latest matches", named(COUNTS), "5"),
    element("button#find", "Find mistakes"),
  );
  const root = panel("Learn from mistakes", asks, none, progress, found);
  /** Offer the players and sources that there are now. */
  const offer = async () => {
    await ask("/api/matches", { count: 1 }); // files are looked at
    const { players, sources } = await ask("/api/matches/choices");
    const rows = sources.map((/** @type {any} */ { key, path }) => [key, path]);
    refill("player", named(players), person);
    refill("source", [["", "all matches"], ...rows]);
    asks.hidden = !players.length;
    none.hidden = !asks.hidden;
  };
  return { root, draw, start, offer };
}

attempt(async () => {
  const all = await ask("/api/practice/puzzles");
  const puzzles = puzzlePanel(all);
  const mistakes = mistakePanel(all.person);
  const beside = element("div.beside", table.told, table.found, puzzles.root, mistakes.root);
  $("main").replaceChildren(element("div.home", table.root, beside));
  table.changed = () => {
    puzzles.draw();
    mistakes.draw();
  };
  table.changed();
  await mistakes.offer();
  follow("matches", () => mistakes.offer().catch(() => {}));
  const place = new URLSearchParams(location.hash.slice(1));
  const match = place.get("match");
  if (match !== null && place.has("seat"))
    await mistakes.start({ match, seat: Number(place.get("seat")) });
  else if (match !== null) {
    const turn = Number(place.get("turn"));
    table.begin([{ id: "", place: { match, turn }, title: `Turn ${turn}` }], 0);
  } else if (place.has("puzzle")) {
    const list = all.puzzles.map(exerciseOf);
    table.begin(list, Number(place.get("puzzle")) in list ? Number(place.get("puzzle")) : 0);
  } else puzzles.begin();
});
