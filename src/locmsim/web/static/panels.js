// @ts-check
// Panels beside the board, of which one is shown, and their tabs.

import { button, element } from "./dom.js";

export class Panels {
  /** @param {() => void} opened called after another one is shown */
  constructor(opened) {
    this.opened = opened;
    /** Which one is shown. */
    this.shown = "";
    /** The keys that show one. @type {Record<string, () => void>} */
    this.keys = {};
    this.tabs = element("div.tabs", { role: "tablist", "aria-label": "Panels" });
    this.box = element("div.panels");
    this.tabs.addEventListener("keydown", (event) => {
      const all = /** @type {HTMLElement[]} */ ([...this.tabs.children]);
      const at = all.indexOf(/** @type {HTMLElement} */ (event.target));
      const way = { ArrowLeft: -1, ArrowRight: 1 }[event.key];
      if (at < 0 || !way) return;
      const tab = all[(at + way + all.length) % all.length];
      event.preventDefault();
      tab.focus();
      tab.click();
    });
  }

  /** Add a panel beside the board. @param {string} id @param {string} title
   * @param {HTMLElement} content @param {string} key that shows it */
  add(id, title, content, key) {
    this.keys[key] = () => this.open(id);
    const tab = button("", title, () => this.open(id), {
      id: `tab-${id}`,
      role: "tab",
      "aria-controls": id === "moves" ? "log" : id,
      "aria-selected": "false",
    });
    if (id !== "moves") content.id = id;
    content.dataset.panel = id;
    content.classList.add("tabpanel");
    if (id !== "moves") {
      content.setAttribute("role", "tabpanel");
      content.setAttribute("aria-labelledby", `tab-${id}`);
      content.tabIndex = 0;
    }
    content.hidden = true;
    this.tabs.append(tab);
    this.box.append(content);
  }

  /** Show a panel. @param {string} id */
  open(id) {
    this.shown = id;
    for (const tab of this.tabs.children)
      tab.setAttribute("aria-selected", String(tab.id === `tab-${id}`));
    for (const panel of /** @type {Iterable<HTMLElement>} */ (this.box.children))
      panel.hidden = panel.dataset.panel !== id;
    this.opened();
  }
}
