// @ts-check
// The page of a match, of a game that is being played, and of a position.

import { server } from "./analysis.js";
import { $, element, valueOf } from "./dom.js";
import { Engine } from "./engine.js";
import { follow } from "./follow.js";
import { opponentsBy } from "./form.js";
import { playOn } from "./matchpanels.js";
import { Game } from "./play.js";
import { ReportPanel } from "./report.js";
import { Refused, address, ask, notice, shown, tell } from "./site.js";
import { TreePanel } from "./tree.js";
import { showView } from "./view.js";
import { Viewer } from "./viewer.js";

const key = decodeURIComponent(location.pathname.slice("/game/".length));
const wanted = location.hash.slice(1);

/** Add links to download the match in other forms. @param {Viewer} viewer */
function share(viewer, positioned = viewer.data.kind === "position") {
  const box = element("div.bar");
  /** @param {string} what @param {string} text */
  const link = (what, text) => {
    const made = /** @type {HTMLAnchorElement} */ (element("a", { download: "" }, text));
    const place = () => {
      /** @type {Record<string, string|number>} */
      const query = what === "position" ? { game: key, step: viewer.at } : { game: key };
      made.href = address(`/api/game/${what}`, query);
    };
    made.addEventListener("click", place);
    place();
    box.append(made);
  };
  if (!positioned) {
    link("log", "Log");
    link("page", "Page");
  }
  link("position", "Position");
  const panel = $("about").firstElementChild ?? $("about");
  panel.before(element("h2", "Download"), box);
}

/** Let a person play on from the step that is shown. @param {Viewer} viewer */
async function playOut(viewer) {
  const { opponents } = await ask("/api/play/choices");
  const begin = () =>
    shown(async () => {
      const seat = Number(valueOf("out-seat"));
      const players = [null, null].map((_, i) => (i === seat ? null : valueOf("out-opponent")));
      const { game } = await tell("/api/play/new", { from: key, step: viewer.at, players });
      location.href = address(`/game/${game}`);
    });
  const found = opponentsBy(opponents, viewer.data.rules);
  $("about").append(...playOn(viewer, found, undefined, begin));
}

/** Follow a match that is being played elsewhere. @param {Viewer} viewer */
function live(viewer) {
  const end = follow(`live:${key}`, async () => {
    /** @type {any} */
    const news = await ask("/api/live", { game: key, have: viewer.steps.length }).catch((error) => {
      if (error instanceof Refused) notice(error.message);
      return null; // the next news come when the server is back
    });
    if (!news) return;
    Object.assign(viewer.data.cards, news.cards);
    if (news.steps.length) viewer.grow(news.start, news.steps);
    if (!news.over) return;
    end();
    if (news.next_key) location.replace(address(`/game/${news.next_key}`));
  });
}

/** The match of this address; null if it is one of another game, which has a page of its own. */
async function load() {
  try {
    return await ask("/api/game", { game: key });
  } catch (error) {
    if (!(error instanceof Refused) || error.status !== 400) throw error;
    const view = await ask("/api/view", { game: key }).catch(() => null);
    if (!view) throw error;
    const grow = showView($("main"), view, (have) => ask("/api/view", { game: key, have }));
    if (view.running) {
      const end = follow(`view:${key}`, async () => {
        if (!(await grow().catch(() => true))) end();
      });
    }
    return null;
  }
}

shown(async () => {
  const data = await load();
  if (!data) return;
  const main = $("main");
  if (data.play) {
    new Game(main, data);
    return;
  }
  const viewer = new Viewer(main, data);
  if (data.live) {
    viewer.show(viewer.steps.length - 1);
    live(viewer);
    return;
  }
  if (data.captured !== undefined) return;
  const positioned = data.kind === "position";
  new TreePanel(viewer, new Engine(viewer, server, key, positioned));
  const report = positioned ? null : new ReportPanel(viewer, key);
  share(viewer);
  if (positioned || wanted === "engine") viewer.panels.open("engine");
  else if (report && wanted === "report") report.open();
  viewer.redraw();
  await playOut(viewer);
});
