// @ts-check
// The list of moves of a match.

import { element, number } from "./dom.js";
import { Written } from "./written.js";

/** @typedef {import("./viewer.js").Step} Step */

export class MoveList {
  /** @param {string[]} names of the players
   * @param {(index: number) => void} show what a click on a move does */
  constructor(names, show) {
    this.names = names;
    this.show = show;
    this.at = 0;
    /** @type {HTMLElement[]} */
    this.entries = [];
    this.root = element("ol#log", { "aria-label": "Moves", tabindex: "0" });
    this.written = new Written(this.root);
  }

  /** List steps. @param {Step[]} steps */
  draw(steps) {
    this.entries = steps.map((step, index) => {
      const entry = element("li", { class: step.action === null ? `turn p${step.player}` : "" });
      if (step.action === null) this.turnEntry(entry, step);
      else entry.append(element("bdi", step.words));
      entry.addEventListener("click", (event) => {
        event.preventDefault();
        this.show(index);
      });
      return entry;
    });
    this.root.replaceChildren(...this.entries);
  }

  /** Mark the step that is shown. @param {number} index */
  mark(index) {
    this.at = index;
    for (const entry of this.entries) entry.removeAttribute("aria-current");
    this.entries[index]?.setAttribute("aria-current", "step");
    this.reveal();
  }

  /** Scroll the list of moves to the step that is shown. */
  reveal() {
    // Not scrollIntoView, which moves the whole page on a phone.
    const entry = this.entries[this.at];
    if (!entry) return;
    const top = entry.offsetTop;
    if (top < this.root.scrollTop) this.root.scrollTop = top;
    else
      this.root.scrollTop = Math.max(
        this.root.scrollTop,
        top + entry.offsetHeight - this.root.clientHeight,
      );
  }

  /** @param {HTMLElement} entry @param {Step} step */
  turnEntry(entry, step) {
    const { names } = this;
    const link = element("a", { href: `#turn=${step.turn}` }, `Turn ${step.turn}`);
    entry.append(link, " ", element("bdi", names[step.player]));
    if (step.ms) entry.append(" ", element("small", `${number(step.ms)} ms`));
    if (step.chat) entry.append(" ", element("bdi", `\u201c${step.chat}\u201d`));
    if (step.illegal?.length) {
      const text = `not legal: ${step.illegal.join("; ").slice(0, 400)}`;
      entry.append(" ", element("small.illegal", text));
    }
    if (step.theirs?.length) {
      const told = element("small.theirs", "before, ");
      const acts = `: ${step.theirs.join("; ")}`;
      told.append(element("bdi", names[1 - step.player]), acts);
      entry.append(" ", told);
    }
    if (step.stderr) entry.append(this.written.box(step.stderr));
  }
}
