// @ts-check
// A game that a person plays, on the page of the match: in its last position it is their turn.

import { painter } from "./cards.js";
import { ChoiceView } from "./choice.js";
import { $, button, element, percent } from "./dom.js";
import { follow } from "./follow.js";
import { Refused, address, ask, notice, shown, tell } from "./site.js";
import { Viewer } from "./viewer.js";

/** @typedef {import("./viewer.js").Step} Step */
/** @typedef {{winner?: number, scores?: number[], stderr?: string[], replay?: string, path?: string,
 *   fault?: null|{player: number, kind: string, message: string}, error?: string}} Over */
/** @typedef {{game: string, version: number, by: string, by_version: number, seat: number|null,
 *   names: string[], players: (string|null)[], asked: boolean,
 *   choice: import("./choice.js").Choice|null, actions: string[], done: string[], start: number,
 *   steps: Step[], settled: number, cards: Record<string, import("./cards.js").CardData>,
 *   over: Over|null}} View */
/** @typedef {import("./viewer.js").Match & {key: string, play: View}} Data */

const OTHER_PAGE = "This game goes on in another page, too. Here is how it stands.";
const STEP_MS = 800;
const client = crypto.randomUUID();
const still = matchMedia("(prefers-reduced-motion: reduce)");

export class Game {
  /** @param {HTMLElement} host @param {Data} data */
  constructor(host, data) {
    this.host = host;
    this.data = data;
    this.view = data.play;
    /** @type {Viewer|null} */
    this.viewer = null;
    const choose = (/** @type {string[]} */ cards) => this.change("cards", { cards });
    this.chooser = new ChoiceView(host, data, painter(data), choose, notice);
    /** The change that is under way. @type {Promise<boolean>|null} */
    this.changing = null;
    this.leaving = false;
    /** Whether actions that were advised are being carried out. */
    this.obeying = false;
    /** Whether moves are being shown one by one; until the last one nothing can be done. */
    this.filming = false;
    this.advice = element("div#advice");
    this.show();
    /** Ends following the game. @type {() => void} */
    this.end = () => {};
    if (!this.view.over) this.end = follow(`game:${this.view.game}`, () => this.look());
  }

  /** Whether clicks on the board act. */
  get free() {
    return this.view.asked && !this.obeying && !this.filming;
  }

  /** Take the news of the game, until it is over. */
  async look() {
    try {
      const next = await ask("/api/play/state", { game: this.view.game, ...this.known() });
      // A change by this page is shown by its own answer first.
      await this.changing;
      if (next.version > this.view.version) {
        if (next.by !== client && next.by_version > this.view.version) notice(OTHER_PAGE);
        this.take(next);
      }
    } catch (error) {
      if (!(error instanceof Refused)) return; // the page says that the server has gone
      notice(error.message);
      this.end();
    }
    if (this.view.over) this.end();
  }

  /** What this page has already, so that it is not sent again. */
  known() {
    return { have: this.view.settled, known: Object.keys(this.data.cards).length };
  }

  /** Ask the server for a change of the game; return whether it was made.
   * @param {string} what @param {Record<string, any>} [data] */
  async change(what, data = {}) {
    if (this.changing) return false;
    this.changing = this.send(what, data);
    try {
      return await this.changing;
    } finally {
      this.changing = null;
    }
  }

  /** @param {string} what @param {Record<string, any>} data */
  async send(what, data) {
    try {
      const { game, version } = this.view;
      const place = { game, version, client, ...this.known() };
      const next = await tell(`/api/play/${what}`, { ...place, ...data });
      notice();
      if (next.version > this.view.version) this.take(next);
      return true;
    } catch (error) {
      const gone = error instanceof Refused && error.status === 409;
      notice(gone ? OTHER_PAGE : String(/** @type {Error} */ (error).message));
      if (gone) this.take(/** @type {Refused} */ (error).data.view);
      return false;
    }
  }

  /** @param {View} next */
  take(next) {
    const before = this.view;
    this.leaving = false;
    this.view = next;
    Object.assign(this.data.cards, next.cards);
    const steps = [...this.data.steps.slice(0, next.start), ...next.steps];
    const fresh = steps.slice(before.settled).some((step) => step.player !== next.seat);
    if (this.viewer) {
      const { viewer } = this;
      const following = viewer.at >= viewer.steps.length - 1 || viewer.line !== null;
      const from = viewer.at;
      viewer.board.pointed = [];
      viewer.data.steps = viewer.steps = steps;
      viewer.list();
      if (following && fresh && !still.matches && steps.length - 1 > from + 1) this.film(from);
      else if (!this.filming) viewer.show(following ? steps.length - 1 : from);
    } else this.data.steps = steps;
    if (next.asked !== before.asked) this.advice.replaceChildren();
    this.show();
  }

  /** Show the opponent's moves one by one; a click skips the rest. @param {number} from */
  film(from) {
    const viewer = /** @type {Viewer} */ (this.viewer);
    if (this.filming) return;
    this.filming = true;
    let at = from;
    const stop = () => {
      clearInterval(timer);
      removeEventListener("pointerdown", interrupt, true);
      this.filming = false;
      viewer.show(viewer.steps.length - 1);
      this.show();
    };
    /** That click does nothing else: whatever is under it now was not what it was aimed at. */
    const interrupt = () => {
      const swallow = (/** @type {Event} */ event) => {
        event.preventDefault();
        event.stopPropagation();
      };
      addEventListener("click", swallow, { capture: true, once: true });
      // The click comes with the end of the press, however long that is.
      const released = () => setTimeout(() => removeEventListener("click", swallow, true), 100);
      addEventListener("pointerup", released, { capture: true, once: true });
      stop();
    };
    const next = () => {
      at += 1;
      if (at >= viewer.steps.length - 1) stop();
      else viewer.show(at);
    };
    const timer = setInterval(next, STEP_MS);
    addEventListener("pointerdown", interrupt, true);
    next();
  }

  // -------------------------------------------------------------------------------- what is shown

  show() {
    const { view } = this;
    document.body.dataset.version = String(view.version);
    document.body.dataset.asked = String(view.asked);
    document.body.dataset.over = String(view.over !== null);
    if (view.choice && !view.over) this.chooser.show(view.choice, view.asked, this.bar());
    else if (!this.viewer && (this.data.steps.length || view.over)) this.open();
    else if (!this.viewer)
      this.host.replaceChildren(
        element("p.prompt", { "aria-live": "polite" }, "The game is starting\u2026"),
        this.bar(),
      );
    if (this.viewer) this.battle(this.viewer);
  }

  open() {
    this.viewer = new Viewer(this.host, this.data, (action) => {
      if (this.free) this.change("do", { action });
    });
    const { viewer } = this;
    viewer.offer = () => this.offer();
    viewer.keys = {
      ...viewer.keys,
      e: () => this.free && this.change("end"),
      u: () => this.free && this.view.done.length && this.change("undo"),
      h: () => this.free && this.hint(),
    };
    viewer.tools.after(this.advice);
    viewer.show(this.view.over ? 0 : viewer.steps.length - 1);
    if (!this.view.over) viewer.show(viewer.steps.length - 1);
  }

  /** What can be done in the position that is shown. */
  offer() {
    const viewer = /** @type {Viewer} */ (this.viewer);
    const { view } = this;
    if (viewer.line || this.filming) return {};
    if (viewer.at < viewer.steps.length - 1)
      return view.asked ? { prompt: "It is your turn: go to the last step to act." } : {};
    if (view.over) return { prompt: "The game is over." };
    if (!view.asked) return { prompt: view.seat === null ? "" : "The opponent is thinking\u2026" };
    return { actions: view.actions };
  }

  /** @param {Viewer} viewer */
  battle(viewer) {
    const { view } = this;
    if (view.over) {
      viewer.tools.replaceChildren(this.ending(view.over));
      Object.assign(viewer.data, {
        winner: view.over.winner ?? null,
        fault: view.over.fault ?? null,
      });
      viewer.caption();
      viewer.redraw();
      return;
    }
    viewer.tools.replaceChildren(this.bar());
    viewer.redraw();
  }

  /** The buttons: end the turn, take back, hint, leave. */
  bar() {
    const { view } = this;
    const undoes = this.free && view.done.length > 0;
    /** @param {string} key @param {boolean} able */
    const by = (key, able) => ({ title: key, disabled: !able });
    const battle = [
      button("#end.main", "End turn", () => this.change("end"), by("e", this.free)),
      button("#undo", "Undo", () => this.change("undo"), by("u", undoes)),
    ];
    const leave = button("#new", view.seat === null ? "Stop" : "New game", () => this.leave());
    if (view.seat === null) return element("div.bar", leave);
    const hint = button("#hint", "Hint", () => this.hint(), by("h", this.free));
    return element("div.bar", ...(this.viewer ? battle : []), hint, leave);
  }

  /** @param {Over} over */
  ending(over) {
    const { view } = this;
    const box = element("div#ending.ending");
    const won = over.winner === view.seat;
    let title = "The game is over";
    if (over.winner !== undefined && view.seat !== null) title = won ? "You won" : "You lost";
    else if (over.winner !== undefined) title = `${view.names[over.winner]} won`;
    box.append(element("h2.result", title));
    if (over.fault) {
      const { player, kind, message } = over.fault;
      const words = `${view.names[player]} lost by a fault: ${kind}: ${message}`;
      box.append(element("p", element("bdi", words)));
    }
    if (over.error) box.append(element("p", over.error));
    if (over.path) box.append(element("p.small", `Saved as ${over.path}`));
    else if (over.replay)
      box.append(
        element(
          "p.small",
          "Not saved: it is kept until the server ends. ",
          element(
            "a",
            { href: address("/api/game/log", { game: over.replay }), download: "" },
            "Download the log",
          ),
          ", or start the server with --save FOLDER.",
        ),
      );
    for (const text of over.stderr ?? [])
      if (text)
        box.append(
          element(
            "details",
            { open: Boolean(over.fault) },
            element("summary", "Standard error of the opponent"),
            element("pre", text),
          ),
        );
    const links = element("p.bar");
    if (view.seat !== null) links.append(button("#rematch.main", "Rematch", () => this.rematch()));
    if (over.replay) {
      const there = address(`/game/${over.replay}`);
      links.append(
        element("a#watch", { href: there }, "Replay"),
        element("a#toreport", { href: `${there}#report` }, "Report"),
      );
      const again = `/practice#game=${over.replay}&seat=${view.seat}`;
      if (view.seat !== null)
        links.append(element("a#learn", { href: address(again) }, "Try again"));
    }
    links.append(element("a#again", { href: address("/") }, "New game"));
    box.append(links);
    return box;
  }

  /** Start the same game with seats swapped. */
  rematch() {
    shown(async () => {
      const players = [...this.view.players].reverse();
      const { game } = await tell("/api/play/new", { rules: this.data.rules, players });
      location.href = address(`/game/${game}`);
    });
  }

  // -------------------------------------------------------------------------------------- hints

  hint() {
    shown(async () => {
      const asked = this.view.version;
      const found = await tell("/api/play/hint", { game: this.view.game });
      if (this.view.version !== asked) return;
      if (found.cards) {
        this.chooser.advise(found.cards);
        if (!this.view.choice?.draft) this.show();
        return;
      }
      const words = found.words.length ? found.words : ["End the turn"];
      this.viewer?.board.point(found.actions);
      this.advice.replaceChildren(
        element("h2", "Beam would play this whole turn"),
        element(
          "ol#line",
          ...words.map((/** @type {string} */ text) => element("li", element("bdi", text))),
        ),
        element("p#chance", `Your chance of winning would be ${percent(found.chance)}.`),
        found.actions.length || this.view.done.length
          ? button("#follow", "Do that", () => this.obey(found.actions))
          : "",
      );
    });
  }

  /** Play what was advised, instead of what was done so far. @param {string[]} actions */
  async obey(actions) {
    this.obeying = true;
    this.viewer?.board.point([]);
    const differs = () => this.view.done.some((action, i) => action !== actions[i]);
    let well = true;
    while (well && this.view.asked && differs()) well = await this.change("undo");
    for (const action of actions.slice(this.view.done.length))
      if (well && this.view.asked) well = await this.change("do", { action });
    this.obeying = false;
    this.show();
  }

  leave() {
    shown(async () => {
      if (!this.view.over && !this.leaving) {
        this.leaving = true;
        notice(
          `This game is not over and would not be saved. Press ${$("new").textContent} again to leave it.`,
        );
        return;
      }
      if (!this.view.over) await tell("/api/play/leave", { game: this.view.game });
      location.href = address("/");
    });
  }
}
