// @ts-check
// Panels beside the board, of which one is shown, and their tabs.

import { button, element } from "./dom.js";

export class Panels {
  /** @param {() => void} opened called after another one is shown */
  constructor(opened) {
    this.opened = opened;
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
   * @param {HTMLElement} content */
  add(id, title, content) {
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
    for (const tab of this.tabs.children) {
      const chosen = tab.id === `tab-${id}`;
      tab.setAttribute("aria-selected", String(chosen));
    }
    for (const panel of /** @type {Iterable<HTMLElement>} */ (this.box.children))
      panel.hidden = panel.dataset.panel !== id;
    this.opened();
  }

  /** Whether a panel is shown. @param {string} id */
  isOpen(id) {
    return [...this.box.children].some(
      (panel) =>
        !(/** @type {HTMLElement} */ (panel).hidden) &&
        /** @type {HTMLElement} */ (panel).dataset.panel === id,
    );
  }
}
