// @ts-check
// A match that is played: a person against a machine's answers, or two bots that are watched.

import { button, element, pause, swallowClick, textOf } from "./dom.js";
import { Engine } from "./enginepanel.js";
import { pathTo, Teller } from "./local.js";
import { Viewer } from "./viewer.js";

/** @typedef {import("./viewer.js").Step} Step */
/** What a match is played on: who answers; who advises, whose searches may be ended; what is asked
 * for the other side's turn besides its path; how to leave; what is shown at the end; what is told
 * the actions after each change.
 * @typedef {{machine: import("./local.js").Asked, advice: import("./local.js").Asked,
 *   turn: Record<string, any>, back: string, leave: () => void,
 *   ending: (winner: number|null) => (Node|string)[], told?: (path: string[]) => void}} From */

const SHOWN_MS = 700;
const calm = matchMedia("(prefers-reduced-motion: reduce)");

export class PlayedMatch {
  /** @param {HTMLElement} host @param {import("./viewer.js").Match} match its steps so far, its
   * names, and the seat of the person, null if there is none
   * @param {From} from */
  constructor(host, match, from) {
    this.from = from;
    this.machine = from.machine;
    this.seat = match.seat;
    /** What had the focus last, which a button that is disabled loses. @type {Element|null} */
    this.focused = null;
    /** What is legal for the person, in the last position. @type {string[]|null} */
    this.legal = null;
    /** Whether the match has ended: by a win, by a fault, or because it was left. */
    this.ended = false;
    /** What the machine is being asked. @type {Promise<unknown>} */
    this.working = Promise.resolve();
    this.viewer = new Viewer(host, {
      ...match,
      view: match.seat,
      running: true,
    });
    const { viewer } = this;
    this.teller = new Teller(viewer.data);
    this.end = button("#end.main", "End turn", () => this.act("PASS"), {
      title: "Shift+E",
    });
    this.undo = button("#back", "Take back", () => this.takeBack(), {
      title: "u",
    });
    this.hint = button("#hint", "Hint", () => viewer.panels.open("engine"), {
      title: "h",
    });
    this.follow = button("#follow", "Do that", () => this.obey(), {
      hidden: true,
    });
    const away = button("#leave", from.back, () => {
      from.advice.close();
      from.leave();
    });
    this.result = element("div#ending.ending", { hidden: true });
    /** What only a person who plays needs. */
    this.own = [this.end, this.undo, this.hint, this.follow];
    viewer.tools.append(this.result, element("div.bar", ...this.own, away));
    for (const made of this.own) made.hidden = this.seat === null;
    if (this.seat !== null) {
      new Engine(viewer, from.advice, true);
      viewer.keepView(this.seat);
    }
    viewer.act = (action) => this.act(action);
    viewer.offer = () => this.offer();
    viewer.listeners.push(() => this.enable());
    const hint = () => this.seat !== null && viewer.panels.open("engine");
    Object.assign(viewer.keys, { E: () => this.act("PASS"), u: () => this.takeBack(), h: hint });
    viewer.show(viewer.steps.length - 1);
    this.doing(() => this.ready());
  }

  /** What can be done in the position that is shown. */
  offer() {
    const { viewer } = this;
    if (viewer.line) return {};
    if (viewer.at < viewer.steps.length - 1)
      return this.legal ? { prompt: "It is your turn: go to the last step to act." } : {};
    if (this.ended) return { prompt: "The match is over." };
    if (this.legal) return { actions: this.legal };
    return {
      prompt: this.seat === null ? "" : "The opponent is thinking\u2026",
    };
  }

  /** The position at the end. */
  get last() {
    return this.viewer.steps[this.viewer.steps.length - 1].board;
  }

  /** The list of actions. */
  get path() {
    return pathTo(this.viewer.steps);
  }

  /** Ask the machine, one thing after the other, and show what goes wrong.
   * @param {() => Promise<void>} work */
  doing(work) {
    this.working = this.working.then(work).catch((error) => {
      if (error.name !== "Ended" && this.viewer.root.isConnected) this.failed(error);
    });
    return this.working;
  }

  /** @param {unknown} error */
  failed(error) {
    this.viewer.said.textContent = textOf(error);
  }

  /** Show whose turn it is now, and ask for the other side's. @param {string[]} [legal] what is
   * legal, if that is known */
  async ready(legal) {
    const { winner, player } = this.last;
    const mine = winner === null && !this.ended && player === this.seat;
    this.legal = (mine && legal) || null;
    this.tell();
    this.from.told?.(this.path);
    if (winner !== null) this.over(winner);
    else if (mine && !legal) {
      const { actions } = await this.machine.ask("walk", {
        path: this.path,
        actions: [],
      });
      this.legal = actions;
      this.tell();
    } else if (!mine && !this.ended) await this.answer();
  }

  /** Play the turn of the other side. */
  async answer() {
    const { path } = this;
    const {
      actions,
      path: list,
      chats,
    } = await this.machine.ask("turn", {
      path,
      ...this.from.turn,
    });
    this.chat(chats);
    const rest = list ? list.slice(path.length) : [...actions, "PASS"];
    if (!rest.length) return; // a fault has ended the match
    await this.film(await this.after(rest));
    if (this.viewer.root.isConnected) await this.ready();
  }

  /** Show steps one by one; a click skips the rest, and does nothing else. @param {Step[]} steps */
  async film(steps) {
    const { viewer } = this;
    let skip = () => {};
    const skipped = new Promise((resolve) => {
      skip = () => resolve(true);
    });
    const interrupt = () => {
      // Whatever is under the click now was not what it was aimed at; it comes with the release.
      const end = swallowClick();
      const released = () => setTimeout(end, 100);
      addEventListener("pointerup", released, { capture: true, once: true });
      skip();
    };
    const moving = !calm.matches && steps.length > 1;
    if (moving) addEventListener("pointerdown", interrupt, true);
    let fast = !moving;
    for (const step of steps) {
      if (!viewer.root.isConnected) break;
      viewer.grow(viewer.steps.length, [step]);
      fast ||= Boolean(await Promise.race([skipped, pause(SHOWN_MS)]));
    }
    removeEventListener("pointerdown", interrupt, true);
  }

  /** The steps of actions from the last position; a win ends them. @param {string[]} actions */
  async after(actions) {
    const found = await this.machine.ask("walk", { path: this.path, actions });
    return this.teller.steps(actions.slice(0, found.boards.length), this.last, found);
  }

  /** Carry out an action of the person. @param {string} action */
  act(action) {
    const { viewer } = this;
    if (!this.legal || !(action === "PASS" || this.legal.includes(action))) return;
    if (viewer.at < viewer.steps.length - 1 || viewer.line) viewer.show(viewer.steps.length - 1);
    this.legal = null;
    this.enable();
    return this.doing(async () => {
      const asked = { path: this.path, actions: [action], played: true };
      const found = await this.machine.ask("walk", asked);
      viewer.grow(viewer.steps.length, this.teller.steps([action], this.last, found));
      await this.ready(found.actions);
    });
  }

  /** Take back the last action of the turn. */
  takeBack() {
    const { viewer } = this;
    if (!this.undoes) return;
    this.legal = null;
    this.enable();
    return this.doing(async () => {
      const path = this.path.slice(0, -1);
      const found = await this.machine.ask("walk", {
        path,
        actions: [],
        played: true,
      });
      viewer.grow(viewer.steps.length - 1, []);
      await this.ready(found.actions);
    });
  }

  get undoes() {
    const { steps } = this.viewer;
    return this.legal && steps.length > 1 && steps[steps.length - 1].action !== null;
  }

  /** Play the turn that is shown beside the match. */
  async obey() {
    const actions = (this.viewer.line?.steps ?? []).map((step) => step.action ?? "");
    this.viewer.show(this.viewer.steps.length - 1);
    for (const action of actions) await this.act(action);
  }

  /** Show what bots said. @param {Record<string, string>} [chats] by turn */
  chat(chats = {}) {
    for (const step of this.viewer.steps)
      if (step.action === null && chats[step.turn]) step.chat = chats[step.turn];
  }

  /** Take a list of actions that another page has changed. @param {string[]} list
   * @param {Record<string, string>} chats */
  async sync(list, chats) {
    const { viewer, path } = this;
    this.chat(chats);
    const differs = path.findIndex((action, i) => action !== list[i]);
    const same = differs < 0 ? path.length : differs;
    if (same === path.length && list.length === path.length) return;
    viewer.grow(same + 1, []);
    await this.film(await this.after(list.slice(same)));
    await this.ready();
  }

  tell() {
    this.enable();
    this.viewer.redraw();
  }

  /** Let the buttons be pressed where they do something; the focus stays where it was. */
  enable() {
    const { activeElement, body } = document;
    if (activeElement !== body) this.focused = activeElement;
    this.end.toggleAttribute("disabled", !this.legal);
    this.undo.toggleAttribute("disabled", !this.undoes);
    if (this.legal && (this.focused === this.end || this.focused === this.undo)) {
      const made = this.focused === this.undo && !this.undoes ? this.end : this.focused;
      /** @type {HTMLElement} */ (made).focus({ preventScroll: true });
    }
    const { viewer } = this;
    this.follow.hidden = !(viewer.line && this.legal && viewer.at === viewer.steps.length - 1);
    document.body.dataset.asked = String(Boolean(this.legal));
    document.body.dataset.over = String(this.ended);
  }

  /** Show the end. @param {number|null} winner */
  over(winner) {
    if (this.ended) return;
    this.ended = true;
    this.legal = null;
    const { viewer } = this;
    const { names } = viewer.data;
    let title = "The match is over";
    if (winner !== null && this.seat === null) title = `${names[winner]} won`;
    else if (winner !== null) title = winner === this.seat ? "You won" : "You lost";
    this.result.replaceChildren(element("h2.result", title), ...this.from.ending(winner));
    this.result.hidden = false;
    for (const made of this.own) made.hidden = true;
    viewer.data.winner = winner;
    viewer.caption();
    viewer.keepView(null);
    this.tell();
    const hidden = viewer.steps.some(({ board: { sides } }) =>
      sides.some((side) => side.hand.includes(null)),
    );
    if (hidden) this.doing(() => this.reveal());
  }

  /** Show both hands, which are told once the match is over. */
  async reveal() {
    const { viewer, path } = this;
    const { board, boards } = await this.machine.ask("walk", {
      path: [],
      actions: path,
    });
    viewer.steps.forEach((step, i) => {
      step.board = this.teller.position(i ? boards[i - 1] : board);
    });
    viewer.redraw();
  }
}
