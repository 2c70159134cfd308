// @ts-check
// The list of moves of a match.

import { element, number } from "./dom.js";
import { Written } from "./written.js";

/** @template Step */
export class MoveList {
  /** @param {(index: number) => void} show what a click on a move does
   * @param {(step: Step, entry: HTMLElement) => void} fill writes a step into its entry */
  constructor(show, fill) {
    this.show = show;
    this.fill = fill;
    this.at = 0;
    /** @type {HTMLElement[]} */
    this.entries = [];
    this.root = element("ol#log.plain", { "aria-label": "Moves", tabindex: "0" });
    this.written = new Written(this.root);
  }

  /** List steps. @param {Step[]} steps */
  draw(steps) {
    this.entries = steps.map((step, index) => {
      const entry = element("li");
      this.fill(step, entry);
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

  /** Add what was not done, and what the player wrote in the meantime. @param {HTMLElement} entry
   * @param {string} how @param {string[]} actions @param {string} stderr */
  addFaults(entry, how, actions, stderr) {
    const text = `${how}: ${actions.join("; ").slice(0, 400)}`;
    if (actions.length) entry.append(" ", element("small.illegal", text));
    if (stderr) entry.append(this.written.box(stderr));
  }
}

/** Write a step of LOCM into its entry. @param {MoveList<import("./viewer.js").Step>} list
 * @param {string[]} names of the players @param {import("./viewer.js").Step} step
 * @param {HTMLElement} entry */
export function tellStep(list, names, step, entry) {
  if (step.action !== null) {
    entry.append(element("bdi", step.words));
    return;
  }
  entry.className = `turn p${step.player}`;
  const link = element("a", { href: `#turn=${step.turn}` }, `Turn ${step.turn}`);
  entry.append(link, " ", element("bdi", names[step.player]));
  if (step.ms) entry.append(" ", element("small", `${number(step.ms)} ms`));
  if (step.chat) entry.append(" ", element("bdi", `\u201c${step.chat}\u201d`));
  if (step.theirs?.length) {
    const told = element("small.theirs", "before, ");
    told.append(element("bdi", names[1 - step.player]), `: ${step.theirs.join("; ")}`);
    entry.append(" ", told);
  }
  list.addFaults(entry, "not legal", step.illegal ?? [], step.stderr ?? "");
}
