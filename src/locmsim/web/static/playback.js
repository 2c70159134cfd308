// @ts-check
// The buttons, the slider and the clock that lead through the steps of a match.

import { element, icon, select, valueOf } from "./dom.js";

/** What is led through: steps, of which one is shown, perhaps in turns and on a board.
 * @typedef {{steps: ArrayLike<unknown>, at: number, show: (index: number) => void,
 *   walk: (way: number) => void, turn?: (way: number) => void, flip?: () => void}} Led */

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

export class Playback {
  /** @param {Led} viewer */
  constructor(viewer) {
    this.viewer = viewer;
    /** @type {number|undefined} */
    this.timer = undefined;
    this.slider = /** @type {HTMLInputElement} */ (
      element("input#slider", { type: "range", min: 0, value: 0, "aria-label": "Step" })
    );
    this.slider.addEventListener("input", () => viewer.show(Number(this.slider.value)));
    /** The choice of the speed, with its label. */
    this.speed = select(
      "speed",
      "Speed",
      [
        ["2000", "slow"],
        ["900", "normal"],
        ["350", "fast"],
      ],
      "900",
      () => {
        if (this.timer === undefined) return;
        this.pause();
        this.play();
      },
    );
    this.playing = this.button("play", "Play", () => this.play());
    this.controls = element(
      "div.controls",
      this.button("first", "First step", () => viewer.show(0)),
      viewer.turn ? this.button("prevturn", "Previous turn", () => viewer.turn?.(-1)) : "",
      this.button("prev", "Previous step", () => viewer.walk(-1)),
      this.playing,
      this.button("next", "Next step", () => viewer.walk(1)),
      viewer.turn ? this.button("nextturn", "Next turn", () => viewer.turn?.(1)) : "",
      this.button("last", "Last step", () => viewer.show(viewer.steps.length - 1)),
      viewer.flip ? this.button("flip", "Flip the board", () => viewer.flip?.()) : "",
    );
  }

  /** What keys do. @returns {Record<string, () => void>} */
  get keys() {
    const { viewer } = this;
    return {
      " ": () => this.play(),
      ArrowLeft: () => viewer.walk(-1),
      ArrowRight: () => viewer.walk(1),
      Home: () => viewer.show(0),
      End: () => viewer.show(viewer.steps.length - 1),
    };
  }

  /** @param {keyof typeof CONTROLS} id @param {string} text @param {() => void} onclick */
  button(id, text, onclick) {
    const about = { id, title: text, "aria-label": text, onclick };
    return element("button", about, icon(CONTROLS[id]));
  }

  /** Say how many steps there are. @param {number} count */
  reach(count) {
    this.slider.max = String(Math.max(0, count - 1));
  }

  /** Move the slider to the step that is shown. @param {number} index */
  mark(index) {
    this.slider.value = String(index);
  }

  /** Play on from the step that is shown, from the first one at the end; or pause. */
  play() {
    const { viewer } = this;
    if (this.timer !== undefined) return this.pause();
    if (viewer.at === viewer.steps.length - 1) viewer.show(0);
    this.timer = setInterval(() => viewer.show(viewer.at + 1), Number(valueOf("speed")));
    this.playButton("Pause", "pause");
  }

  pause() {
    clearInterval(this.timer);
    this.timer = undefined;
    this.playButton("Play", "play");
  }

  /** @param {string} text @param {"play"|"pause"} picture */
  playButton(text, picture) {
    this.playing.setAttribute("aria-label", text);
    this.playing.title = text;
    this.playing.replaceChildren(icon(CONTROLS[picture]));
  }
}
