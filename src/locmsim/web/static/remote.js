// @ts-check
// The machine of the server: it answers about a match, also one that is played there, or about a position.

import { pause } from "./dom.js";
import { Refused, send, tell } from "./site.js";

/** How a match stands. @typedef {{match: string, version: number, choosing: boolean, chosen: string[],
 *   path: string[], chats: Record<string, string>, over: Over|null}} Standing */
/** @typedef {{winner?: number, stderr?: string[], replay?: string, path?: string,
 *   fault?: null|{player: number, kind: string, message: string}, error?: string}} Over */

/** Milliseconds after which a server that was busy is asked again. */
const BUSY_MS = 500;

export class Remote {
  /** @param {string} match its key @param {Record<string, any>} cards those that the page has
   * @param {Standing} [standing] how it stands, if it is played there */
  constructor(match, cards, standing) {
    this.match = match;
    this.cards = cards;
    this.standing = standing;
    this.mark();
    // The server knows how it measures chances.
    this.packed = { worlds: 0, seed: 0, note: "", lines: 0, held: 12, samples: 0 };
    this.running = "";
  }

  /** @param {string} what @param {any} asked */
  async ask(what, { played, ...asked }) {
    const place = { match: this.match, ...asked };
    if (this.standing) place.known = Object.keys(this.cards).length;
    if (played && this.standing) place.version = this.standing.version;
    if (what === "analyse") this.running = asked.search;
    try {
      const answer = await tell(`/api/machine/${what}`, place);
      Object.assign(this.cards, answer.cards);
      this.take(answer);
      return answer;
    } catch (error) {
      if (!(error instanceof Refused && error.status === 429)) throw error;
      await pause(BUSY_MS);
      return null;
    }
  }

  /** Keep how the match stands. @param {any} answer */
  take(answer) {
    if (this.standing && answer.version > this.standing.version) this.standing = answer;
    this.mark();
  }

  /** Say on the page which version it shows. */
  mark() {
    if (this.standing) document.body.dataset.version = String(this.standing.version);
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
