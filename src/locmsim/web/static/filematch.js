// @ts-check
// A match in a page's file, with the engine: shows it, searches its positions, and lets a person
// play on from them.

import { button, element, valueOf } from "./dom.js";
import { Engine } from "./enginepanel.js";
import { save } from "./packed.js";
import { Local } from "./local.js";
import { playOn } from "./matchpanels.js";
import { logOf } from "./matchtext.js";
import { PlayedMatch } from "./playedmatch.js";
import { Viewer } from "./viewer.js";

const MIDDLE = 6;

export class FilePage {
  /** @param {HTMLElement} host @param {import("./viewer.js").Match} data
   * @param {import("./local.js").Local} local
   * @param {() => Promise<import("./matchtext.js").Begun>} [begun] what logs of matches that are
   * played on begin with @param {(viewer: Viewer) => void} [opened] called whenever the match is
   * shown */
  constructor(host, data, local, begun, opened) {
    this.host = host;
    this.data = data;
    this.local = local;
    this.begun = begun;
    this.opened = opened;
    this.open();
  }

  /** Show the match. @param {number} [at] */
  open(at) {
    const viewer = new Viewer(this.host, this.data);
    if (!viewer.steps.length) return;
    new Engine(viewer, this.local);
    const engine = /** @type {HTMLElement} */ (viewer.panels.box.querySelector("#engine"));
    const { levels } = this.local;
    engine.append(...playOn(viewer, levels, String(MIDDLE), () => this.play(viewer)));
    this.opened?.(viewer);
    if (at !== undefined) viewer.show(at);
    else viewer.redraw();
  }

  /** @param {Viewer} viewer */
  play(viewer) {
    const { at } = viewer;
    const beside = viewer.line ? viewer.line.steps.slice(0, viewer.line.at + 1) : [];
    const steps = [...viewer.steps.slice(0, at + 1), ...beside];
    const [seat, level] = [Number(valueOf("out-seat")), Number(valueOf("out-opponent"))];
    this.local.end();
    const leave = () => {
      this.local.end();
      this.open(at);
    };
    const back = "Back to the match";
    const again = { ...this.data, steps, agents: undefined, files: undefined, stderr: ["", ""] };
    playLocal(this.host, again, this.local, { seat, level, back, leave, begun: this.begun });
  }
}

/** The names of a person and of a level. @param {number} seat @param {number} level */
export function namesOf(seat, level) {
  return [0, 1].map((player) => (player === seat ? "You" : `Level ${level}`));
}

/** Play a match on against a level of the engine in the file. @param {HTMLElement} host
 * @param {import("./viewer.js").Match} match its steps so far @param {Local} local
 * @param {{seat: number, level: number, back: string, leave: () => void,
 *   begun?: () => Promise<import("./matchtext.js").Begun>, start?: number,
 *   told?: (path: string[]) => void}} from who plays it; how to leave it; what its log begins with,
 * if it can have one; after how many actions it begins; and what is told its actions */
export function playLocal(host, match, local, from) {
  const { seat, level, back, leave, begun, start = match.steps.length - 1, told } = from;
  // Advice has an engine of its own: ending a search of it must not end the level's.
  const advice = new Local(local.packed);
  advice.other = local.other;
  const names = namesOf(seat, level);
  const seed = match.params.seed ?? Math.floor(2 ** 32 * Math.random());
  const turn = { begun: start, level: local.packed.levels[level - 1], seed };
  const ending = () => {
    if (!begun) return [];
    const log = async () => save(logOf(await begun(), playing.viewer.data), "match.json");
    return [element("div.bar", button("#save-log", "Log", log))];
  };
  const played = { ...match, steps: [...match.steps], names, seat, winner: null, fault: null };
  const playing = new PlayedMatch(host, played, {
    machine: local,
    advice,
    turn,
    back,
    leave,
    ending,
    told,
  });
}
