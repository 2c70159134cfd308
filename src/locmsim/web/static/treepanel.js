// @ts-check
// The panel "What if": what may follow the end of the turn, in sampled worlds.

import {
  attempt,
  button,
  element,
  number as digits,
  optionsOf,
  percent,
  renew,
  searchValue,
} from "./dom.js";
import { LastJob } from "./jobs.js";
import { tell } from "./site.js";

/** @typedef {import("./viewer.js").Step} Step */
/** A turn with its search value, or with the chance of winning by it, as Engine tells it.
 * @typedef {{value: number, chance?: number, steps: Step[], next?: Turn|null}} Turn */
/** @typedef {{name: string, seed: number, hand: string[], value: number|null, replies: Turn[]}} World */
/** @typedef {Turn & {worlds: World[]}} Line */

export class TreePanel {
  /** @param {import("./viewer.js").Viewer} viewer @param {import("./enginepanel.js").Engine} engine
   * @param {string} key of the match or the position */
  constructor(viewer, engine, key) {
    this.viewer = viewer;
    this.engine = engine;
    this.key = key;
    this.seed = 0;
    /** What the opponent is said to hold, base ids. @type {number[]} */
    this.hand = [];
    this.last = new LastJob();
    this.go = button("#tree-start.main", "Look ahead", () => this.start());
    this.held = element("div#tree-held.bar");
    this.progress = element("p.dim.small.budget", { "aria-live": "polite" });
    this.found = element("div#tree");
    const panel = element(
      "div",
      element(
        "p.small.dim",
        "The best turns, the opponent\u2019s replies and your next turn, in sampled worlds, which differ in the hidden cards.",
      ),
      element(
        "div.bar",
        this.go,
        button("#tree-redraw", "Other worlds", () => {
          this.seed += 3;
          this.start();
        }),
        button("#tree-hold", "What if they hold\u2026", () => this.choose()),
      ),
      this.held,
      this.progress,
      this.found,
    );
    viewer.panels.add("tree", "What if", panel, "w");
  }

  /** What is asked about. */
  place() {
    return { match: this.key, ...this.engine.place() };
  }

  start() {
    const base = this.viewer.at;
    this.last.run(
      () => {
        this.found.replaceChildren();
        this.progress.textContent = "Searching\u2026";
        const data = { ...this.place(), seed: this.seed, hand: this.hand };
        return tell("/api/tree/start", data);
      },
      ({ state, done, of, result }) => {
        if (result) this.draw(result, base);
        const how = state === "running" ? `${digits(done)} of ${digits(of)} searches; ` : "";
        this.progress.textContent = how + (result?.budget ?? "");
      },
    );
  }

  /** @param {{lines: Line[], cards: Record<string, any>, note: string}} result @param {number} base */
  draw(result, base) {
    const { viewer } = this;
    Object.assign(viewer.data.cards, result.cards);
    /** A button for a turn, which shows the board after it. @param {Turn} turn @param {Step[]} before
     * @param {string} who */
    const row = (turn, before, who) => {
      const words = turn.steps.filter((step) => step.action !== null).map((step) => step.words);
      const steps = [...before, ...turn.steps];
      return element(
        "button.line",
        {
          onclick: () => {
            viewer.show(base);
            viewer.showLine(steps, before.length);
          },
        },
        turn.chance === undefined
          ? element("b", { title: "search value" }, searchValue(turn.value))
          : element("b", percent(turn.chance)),
        ` ${who}`,
        element("bdi", words.join("; ") || "End the turn"),
      );
    };
    const titles = (/** @type {string[]} */ keys) =>
      keys.map((key) => viewer.data.cards[key].title).join(", ") || "no cards";
    const parts = result.lines.map((line, i) => {
      const first = line.steps.slice(1);
      const worlds = line.worlds.map((world) => {
        const replies = world.replies.map((reply) => {
          const all = [...first, ...reply.steps];
          const item = element("li", row(reply, first, "They: "));
          if (reply.next)
            item.append(element("ul.plain.branch", element("li", row(reply.next, all, "Then: "))));
          return item;
        });
        return element(
          "details",
          { "data-place": `${i}.${world.seed}` },
          element(
            "summary",
            `${world.name}${world.value === null ? "" : `, search value ${searchValue(world.value)}`}: they hold `,
            element("bdi", titles(world.hand)),
          ),
          element("ul.plain.branch", ...replies),
        );
      });
      return element("li", row({ ...line, steps: first }, [], ""), ...worlds);
    });
    renew(this.found, element("ul.plain", ...parts), element("p.dim.small", result.note));
  }

  /** Let the person set cards of the opponent's hand, as far as these are possible. */
  choose() {
    attempt(async () => {
      const found = await tell("/api/tree/holdable", this.place());
      Object.assign(this.viewer.data.cards, found.cards);
      if (!found.possible.length) {
        this.hand = [];
        this.held.replaceChildren(element("span.dim", "They hold no cards."));
        return;
      }
      const box = /** @type {HTMLSelectElement} */ (
        element("select#tree-card", { "aria-label": "A card that they hold" })
      );
      /** @type {Map<number, string>} */
      const named = new Map();
      for (const { base_id, key, chance } of found.possible) {
        named.set(base_id, found.cards[key].title);
        box.append(...optionsOf([[base_id, `${named.get(base_id)} (${percent(chance)})`]]));
      }
      const said = element("bdi");
      const tellHand = () =>
        (said.textContent = this.hand.map((id) => named.get(id) ?? `card ${id}`).join(", "));
      this.held.replaceChildren(
        box,
        button("", "Add", () => {
          if (this.hand.length < found.size) this.hand.push(Number(box.value));
          tellHand();
        }),
        button("", "Forget", () => {
          this.hand = [];
          tellHand();
        }),
        said,
      );
      tellHand();
    });
  }
}
