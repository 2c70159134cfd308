// @ts-check
// What bots wrote to their standard errors, beside the turns in which they did.

import { element } from "./dom.js";

/** A box with what a bot wrote. @param {HTMLElement} summary @param {string} text
 * @param {boolean} [open] */
export const writtenBox = (summary, text, open = false) =>
  element("details.written.small", { open }, summary, element("pre", { tabindex: "0" }, text));

/** The boxes of a list of moves: all are open, or none is. */
export class Written {
  /** @param {HTMLElement} list what scrolls */
  constructor(list) {
    this.list = list;
    this.open = false;
  }

  /** A box with a text. @param {string} text */
  box(text) {
    const summary = element("summary.dim", "stderr");
    const box = writtenBox(summary, text, this.open);
    summary.addEventListener("click", (event) => {
      event.preventDefault();
      this.toggle(box);
    });
    // A click in it leads to no other step.
    box.addEventListener("click", (event) => event.stopPropagation());
    return box;
  }

  /** Open or close all; the one that was clicked stays where it is. @param {HTMLElement} clicked */
  toggle(clicked) {
    const before = clicked.getBoundingClientRect().top;
    this.open = !this.open;
    for (const box of this.list.querySelectorAll(".written"))
      box.toggleAttribute("open", this.open);
    this.list.scrollTop += clicked.getBoundingClientRect().top - before;
  }
}
