// @ts-check
// The page Arena: a tournament while it is played, with its table, the score over the matches, the
// sequential test, the pairs and the matches.

import { drawScore, drawTest } from "./arenacharts.js";
import { ArenaMatches } from "./arenamatches.js";
import { drawPairs, drawPlayers } from "./arenatables.js";
import { CardTable } from "./cardtable.js";
import { chartOf } from "./chart.js";
import { $, attempt, button, element, notice, number as digits, select, valueOf } from "./dom.js";
import { follow } from "./follow.js";
import { newArena } from "./newarena.js";
import { ask, tell } from "./site.js";

/** @typedef {import("./arenatables.js").Results} Results */

/** How far a tournament is, and how long it will take. */
class Progress {
  constructor() {
    this.bar = /** @type {HTMLProgressElement} */ (
      element("progress#progress", { "aria-label": "Matches played" })
    );
    this.state = element("span#state");
    this.root = element("p.bar", this.bar, this.state);
    /** The number of matches and the time at the first look, from which the time left is estimated.
     * @type {{games: number, at: number}|null} */
    this.began = null;
  }

  /** @param {Results} results */
  draw(results) {
    const { games, goal, mean_turns } = results.results;
    this.bar.max = Math.max(1, goal);
    this.bar.value = games;
    let text = `${digits(games)} of ${digits(goal)} matches of ${results.title}`;
    if (mean_turns !== null) text += `, ${mean_turns.toFixed(1)} ${results.turn}s a match`;
    if (results.finished) text += ", finished";
    else text += this.left(games, goal);
    this.state.textContent = text;
    if (this.began === null || games < this.began.games)
      this.began = { games, at: performance.now() };
  }

  /** The speed, and the time that is left. @param {number} games @param {number} goal */
  left(games, goal) {
    if (this.began === null || games <= this.began.games) return "";
    const seconds = (performance.now() - this.began.at) / 1000;
    const rate = (games - this.began.games) / seconds;
    const left = (goal - games) / rate;
    const time = left < 90 ? `${Math.ceil(left)} s` : `${Math.ceil(left / 60)} min`;
    return `, ${rate.toFixed(1)} matches/s, about ${time} left`;
  }
}

class ArenaPage {
  constructor() {
    /** @type {Results|null} */
    this.results = null;
    this.version = "";
    /** The player whose curve is shown. */
    this.player = 0;
    /** Ends following. */
    this.end = () => {};
    this.progress = new Progress();
    this.matches = new ArenaMatches();
    this.cards = new CardTable();
    this.files = element("div#files.bar");
    this.stop = button("#stop", "Stop", () => attempt(() => this.halt()), { hidden: true });
    this.root = this.layout();
  }

  layout() {
    return element(
      "div#results",
      { hidden: true },
      this.progress.root,
      element("div.scroll", element("table#players.cards")),
      element(
        "section",
        element("h2", "Score of ", element("bdi#scorename")),
        element("p#scorenow"),
        chartOf("The player's score over the matches, with its 95 % interval", "scorechart"),
      ),
      element(
        "section#test",
        { hidden: true },
        element("h2", "Sequential test"),
        element("p#verdict"),
        chartOf("The logarithm of the likelihood ratio, with its bounds", "llrchart"),
      ),
      element(
        "section#pairs",
        { hidden: true },
        element("h2", "Pairs"),
        element("p#pairunit"),
        element("div.scroll", element("table#matrix.cards")),
      ),
      this.matches.root,
      this.cards.root,
    );
  }

  draw() {
    const { results } = this;
    if (!results) return;
    this.root.hidden = false;
    this.progress.draw(results);
    drawPlayers(results, (player) => this.pick(player));
    drawScore(results);
    drawTest(results);
    drawPairs(results, (player, other) => this.pick(player, other));
  }

  /** Ask for what is new, and show it. */
  async look() {
    const query = { db: valueOf("db"), player: this.player, known: this.version };
    /** @type {Results} */
    const found = await ask("/api/arena/results", query);
    // Somebody may have chosen another file or player in the meantime.
    if (query.db !== valueOf("db") || query.player !== this.player) return;
    if (query.known !== this.version) return;
    this.stop.hidden = !found.running;
    notice(found.failure ? `This arena has broken off: ${found.failure}` : (found.error ?? ""));
    if (found.same || found.error) return;
    this.results = found;
    this.version = found.version;
    this.player = found.player;
    this.cards.offer(Number(valueOf("db")), found);
    this.draw();
    await this.matches.show(found);
  }

  /** Follow the tournament that is chosen. */
  follow() {
    this.end();
    this.end = follow(`arena:${valueOf("db")}`, () => attempt(() => this.look()));
  }

  /** Stop the tournament that is chosen. */
  async halt() {
    await tell("/api/arena/stop", { db: Number(valueOf("db")) });
    this.stop.hidden = true;
  }

  /** Show the curve and the matches of another player. @param {number} index @param {number} [other] */
  pick(index, other = -1) {
    this.player = index;
    this.version = "";
    this.matches.pick(index, other);
    attempt(() => this.look());
  }

  /** Show another tournament. */
  change() {
    this.results = null;
    this.progress.began = null;
    this.version = "";
    this.player = 0;
    this.matches.clear();
    this.root.hidden = true;
    this.follow();
  }

  /** Offer the files of results, and show the one that the address names. */
  async open() {
    const { files } = await ask("/api/arena");
    if (!files.length) {
      this.files.append(
        element(
          "p",
          "There are no results yet: start an arena here, or one with locmsim arena --db FILE, whose results locmsim web --db FILE shows.",
        ),
      );
      /** @type {HTMLDetailsElement} */ ($("new-arena")).open = true;
      return;
    }
    const wanted = new URLSearchParams(location.search).get("db") ?? "0";
    const options = files.map((/** @type {{path: string}} */ file, /** @type {number} */ i) => [
      String(i),
      file.path,
    ]);
    const first = wanted in files ? wanted : "0";
    const choice = select("db", "Results", options, first, () => this.change());
    this.files.append(choice, this.stop);
    this.follow();
  }
}

const page = new ArenaPage();
$("main").append(element("h1", "Arena"), page.files, page.root);
new ResizeObserver(() => page.draw()).observe($("main"));
attempt(newArena).then(() => attempt(() => page.open()));
