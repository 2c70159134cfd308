// @ts-check
// A match in a page's file, with the engine: shows it, searches its positions, and lets a person
// play on from them.

import { valueOf } from "./dom.js";
import { Engine } from "./engine.js";
import { LocalSource } from "./local.js";
import { LocalGame } from "./localgame.js";
import { playOn } from "./matchpanels.js";
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
    new Engine(viewer, new LocalSource(viewer, this.local), "", false);
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
    const from = { steps, seat, level, back, leave, begun: this.begun };
    new LocalGame(this.host, this.data, this.local, from);
  }
}
