// @ts-check
// A match of another game, step by step: what its position looks like, in text or as a picture. A
// picture is only ever an image, so that no markup of a game enters the page.

import { against, element, nameOf, onKeys } from "./dom.js";
import { MoveList } from "./moves.js";
import { Playback } from "./playback.js";

/** @typedef {{turn: number|null, player: number|null, answer: string|null, ignored: string[],
 *   stderr: string, text: string, words: string, scores: number[]|null, image?: string}} Step */
/** @typedef {{title: string, turn: string, names: string[], winner: number|null,
 *   fault: null|{player: number, kind: string, message: string}, steps: Step[], start: number,
 *   running: boolean}} OtherMatch */

/** With a capital letter. @param {string} word */
const title = (word) => word.slice(0, 1).toUpperCase() + word.slice(1);

/** Show a match; returns what adds new steps, and tells whether more of them may come.
 * @param {HTMLElement} host @param {OtherMatch} match
 * @param {(have: number) => Promise<OtherMatch>} more the match from a step on, as it stands now */
export function showOther(host, match, more) {
  let at = 0;
  const picture = /** @type {HTMLImageElement} */ (element("img.drawing", { alt: "" }));
  const text = element("pre.position", { tabindex: "0" });
  const said = element("p#said", { "aria-live": "polite" });
  const walk = (/** @type {number} */ way) => show(at + way);
  const playback = new Playback({
    get steps() {
      return match.steps;
    },
    get at() {
      return at;
    },
    show,
    walk,
  });
  /** Whose turn it was and what they did. @param {Step} step @returns {(Node|string)[]} */
  const told = (step) =>
    step.player === null
      ? ["The beginning"]
      : [
          `${title(match.turn)} ${step.turn ?? "of the choice"}: `,
          nameOf(match.names, step.player),
          " ",
          element("bdi", step.words || step.answer || ""),
        ];
  /** @type {MoveList<Step>} */
  const moves = new MoveList(show, (step, entry) => {
    entry.append(...told(step));
    moves.addFaults(entry, "not done", step.ignored, step.stderr);
  });
  moves.root.classList.add("tabpanel");

  /** @param {number} index */
  function show(index) {
    const step = match.steps[index];
    if (!step) return;
    at = index;
    moves.mark(at);
    picture.hidden = !step.image;
    if (step.image?.startsWith("data:image/")) picture.src = step.image;
    picture.alt = step.text;
    text.hidden = Boolean(step.image);
    text.textContent = step.text;
    const scores = step.scores ? `; ${step.scores.join(" to ")}` : "";
    said.replaceChildren(...told(step), scores);
    playback.mark(at);
    if (at === match.steps.length - 1) playback.pause();
  }
  onKeys(() => playback.keys);
  const outcome = element("p#outcome.dim");
  function tellOutcome() {
    /** @type {(Node|string)[]} */
    const parts = [match.title];
    if (match.running) parts.push(", being played");
    const { names, winner, fault } = match;
    if (winner !== null) parts.push(": ", nameOf(names, winner), " won");
    if (fault) parts.push("; ", nameOf(names, fault.player), ` lost by a fault: ${fault.message}`);
    outcome.replaceChildren(...parts);
  }

  /** Add new steps as they are played; if the last one is shown, show the new last one. */
  async function grow() {
    const news = await more(match.steps.length);
    const last = at === match.steps.length - 1;
    match = { ...news, steps: [...match.steps.slice(0, news.start), ...news.steps] };
    list();
    show(last ? match.steps.length - 1 : at);
    return match.running;
  }
  function list() {
    moves.draw(match.steps);
    playback.reach(match.steps.length);
    tellOutcome();
  }
  list();
  host.replaceChildren(
    element(
      "div.match",
      element("div.head", element("h1#title", ...against(match.names)), outcome),
      element("div.stage.scroll", picture, text),
      element(
        "div.aside",
        said,
        playback.controls,
        playback.slider,
        moves.root,
        element("div.settings.small.dim", playback.speed),
      ),
    ),
  );
  document.title = `${match.names[0]} against ${match.names[1]}`;
  show(match.running ? match.steps.length - 1 : 0);
  return grow;
}
