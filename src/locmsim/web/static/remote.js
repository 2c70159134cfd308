// @ts-check
// The machine of the server: it answers about a match, a position or a game that is played there.

import { Refused, send, tell } from "./site.js";

/** How a game stands. @typedef {{game: string, version: number, choosing: boolean, chosen: string[],
 *   path: string[], chats: Record<string, string>, over: Over|null}} View */
/** @typedef {{winner?: number, stderr?: string[], replay?: string, path?: string,
 *   fault?: null|{player: number, kind: string, message: string}, error?: string}} Over */

/** Milliseconds after which a server that was busy is asked again. */
const BUSY_MS = 500;

export class Remote {
  /** @param {string} game its key @param {Record<string, any>} cards those that the page has
   * @param {View} [view] how a game stands that is played */
  constructor(game, cards, view) {
    this.game = game;
    this.cards = cards;
    this.view = view;
    this.mark();
    // The server knows how it measures chances.
    this.packed = { worlds: 0, seed: 0, note: "", lines: 0, held: 12, samples: 0 };
    this.running = "";
  }

  /** @param {string} what @param {any} asked */
  async ask(what, { played, ...asked }) {
    const place = { game: this.game, ...asked };
    if (this.view) place.known = Object.keys(this.cards).length;
    if (played && this.view) place.version = this.view.version;
    if (what === "analyse") this.running = asked.search;
    try {
      const answer = await tell(`/api/machine/${what}`, place);
      Object.assign(this.cards, answer.cards);
      this.take(answer);
      return answer;
    } catch (error) {
      if (!(error instanceof Refused && error.status === 429)) throw error;
      await new Promise((resolve) => setTimeout(resolve, BUSY_MS));
      return null;
    }
  }

  /** Keep how the game stands. @param {any} answer */
  take(answer) {
    if (this.view && answer.version > this.view.version) this.view = answer;
    this.mark();
  }

  /** Say on the page which version it shows. */
  mark() {
    if (this.view) document.body.dataset.version = String(this.view.version);
  }

  /** End a search. @param {string} [search] */
  end(search = this.running) {
    if (search) send("/api/machine/stop", { search });
    this.running = "";
  }

  close() {
    this.end();
  }
}
