// @ts-check
// The panel "Report": where the match was lost. It compares each turn with the best one that a search
// finds.

import { chartOf, drawChart } from "./chart.js";
import { attempt, button, element, nameOf, percent, renew } from "./dom.js";
import { JobButton } from "./jobs.js";
import { address, tell } from "./site.js";

/** @typedef {import("./viewer.js").Viewer} Viewer */
/** @typedef {{turn: number, player: number, played: string|null, best: string, before: number,
 *   after: number, loss: number, value_best: number, value_played: number}} Turn */
/** @typedef {{turn: number|null, picked_key: string, better_key: string, copies: number,
 *   loss: number}} Pick */
/** @typedef {{player: number, probability: number, with_package: number, worst: Pick[]}} Deck */
/** @typedef {{budget: string, note: string, decks: Deck[]|null, decks_note: string, turns: Turn[],
 *   worst: number[][], least_loss: number}} Report */

/** Of a choice of cards, a loss that is not shown as 0.0 %. */
const SEEN = 0.0005;
/** A chance of winning, from an expected result from -1 to 1. @param {number} value */
const chance = (value) => (1 + value) / 2;

export class ReportPanel {
  /** @param {Viewer} viewer @param {string} key
   * @param {import("./enginepanel.js").Engine} engine */
  constructor(viewer, key, engine) {
    this.viewer = viewer;
    this.engine = engine;
    /** What the decks were worth, which does not change any more. @type {HTMLElement|null} */
    this.decks = null;
    this.begin = new JobButton(
      "#report-start.main",
      "Where was it lost?",
      "Again",
      () => tell("/api/report/start", { match: key }),
      (report) => {
        if (report) this.draw(report);
      },
    );
    this.practice = button(
      "#try-again",
      "Try again",
      () => {
        const seat = viewer.board.below;
        location.href = address(`/practice#match=${key}&seat=${seat}`);
      },
      { hidden: true, title: "Play the turns of the player below again that gave something away" },
    );
    this.found = element("div#report-found");
    const panel = element(
      "div",
      element("div.bar", this.begin.button, this.practice, this.begin.progress),
      this.found,
    );
    viewer.panels.add("report", "Report", panel, "r");
  }

  /** Show the panel, and begin. */
  open() {
    this.viewer.panels.open("report");
    if (!this.begin.started) this.begin.press();
  }

  /** @param {Report} report */
  draw(report) {
    this.practice.hidden = false;
    const { names } = this.viewer.data;
    if (report.decks) this.decks ??= this.deckParts(report.decks, report.decks_note);
    const parts = [
      ...(this.decks ? [this.decks] : []),
      this.chart(report.turns),
      element(
        "p.dim.small",
        "Line: the chance of winning of ",
        nameOf(names, 0),
        ", with the best turn and with the one that was played. Bars: the difference between them.",
      ),
    ];
    const byTurn = new Map(report.turns.map((turn) => [turn.turn, turn]));
    report.worst.forEach((turns, player) => {
      const list = turns
        .map((number) => byTurn.get(number))
        .filter((turn) => turn !== undefined && turn.loss >= report.least_loss);
      parts.push(
        element("h2", "Worst turns of ", nameOf(names, player)),
        list.length
          ? element(
              "ul.plain.worst",
              ...list.map((turn) => this.row(/** @type {Turn} */ (turn), report)),
            )
          : element("p.dim.small", "none so far"),
      );
    });
    parts.push(element("p.dim.small.budget", `${report.budget}. ${report.note}`));
    const all = report.turns.map((turn) => this.row(turn, report));
    const rest = [element("summary", "All turns"), element("ul.plain", ...all)];
    parts.push(element("details#report-turns", { "data-place": "turns" }, ...rest));
    renew(this.found, ...parts);
  }

  /** What the choice of cards was worth. @param {Deck[]} decks @param {string} note */
  deckParts(decks, note) {
    return element(
      "section#report-decks",
      ...decks.flatMap((deck) => this.deck(deck)),
      element("p.dim.small.budget", `${note}.`),
    );
  }

  /** A deck, and the choices of cards that cost most. @param {Deck} deck */
  deck({ player, probability, with_package: own, worst }) {
    const { cards, names } = this.viewer.data;
    const card = (/** @type {string} */ key) =>
      element("bdi", { title: cards[key].about }, cards[key].title);
    const seen = worst.filter(({ loss }) => loss >= SEEN);
    const choices = seen.map(({ turn, picked_key, better_key, copies, loss }) =>
      element(
        "li",
        `${(100 * loss).toFixed(1)} %: `,
        turn === null ? "" : `pick ${turn + 1}, `,
        card(better_key),
        " instead of ",
        card(picked_key),
        copies > 1 ? ` (${copies} copies)` : "",
      ),
    );
    return [
      element("h2", "Deck of ", nameOf(names, player)),
      element(
        "p",
        `${percent(probability)} chance of winning with these decks, ` +
          `${percent(own)} with the deck that the package would have chosen.`,
      ),
      choices.length
        ? element(
            "details",
            element("summary", "What would have been better"),
            element("ul.plain.small", ...choices),
          )
        : element("p.dim.small", "No other choice would have been better."),
    ];
  }

  /** @param {Turn} turn @param {Report} report */
  row(turn, { least_loss }) {
    const text =
      turn.loss >= least_loss
        ? `${percent(chance(turn.value_played))} instead of ${percent(chance(turn.value_best))}`
        : `${percent(chance(turn.value_played))}, as good as any`;
    return element(
      "li",
      element(
        "button.line",
        { "data-turn": turn.turn, onclick: () => this.go(turn) },
        element("b", `Turn ${turn.turn}`),
        " ",
        nameOf(this.viewer.data.names, turn.player),
        `: ${text}`,
      ),
    );
  }

  /** Show the best turn in place of the one that was played. @param {Turn} turn */
  go(turn) {
    const { viewer } = this;
    const start = viewer.steps.findIndex((step) => step.turn === turn.turn);
    if (start < 0) return;
    viewer.show(start);
    const actions = turn.best === "PASS" ? [] : turn.best.split(";");
    viewer.board.point(actions);
    attempt(async () => {
      const found = await this.engine.after(actions);
      const words = found.steps.map((/** @type {{words: string}} */ step) =>
        element("li", element("bdi", step.words)),
      );
      const box = element(
        "div#better",
        element("h2", "Better"),
        element("ol", ...(words.length ? words : [element("li", "End the turn")])),
        button("", "Show it", () => viewer.showLine(found.steps, 0)),
      );
      this.found.querySelector("#better")?.remove();
      this.found.querySelector(`[data-turn="${turn.turn}"]`)?.after(box);
    });
  }

  /** The chances of player 0 over the match. @param {Turn[]} turns */
  chart(turns) {
    const label = `Chance of ${this.viewer.data.names[0]} over the turns`;
    const chart = chartOf(label);
    drawChart(chart, {
      x: turns.flatMap(({ turn }) => [turn, turn + 0.9]),
      y: turns.flatMap(({ before, after }) => [before, after]),
      bottom: 0,
      top: 1,
      last: (this.viewer.steps.at(-1)?.turn ?? 0) + 1,
      bars: turns.map(({ turn: x, loss: height, player }) => ({ x, height, class: `p${player}` })),
      lines: [{ y: 0.5, class: "even" }],
    });
    return /** @type {HTMLElement} */ (/** @type {unknown} */ (chart));
  }
}
