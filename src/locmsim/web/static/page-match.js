// @ts-check
// The page of a match, also of one that is being played, and of a position.

import { ChoiceView } from "./choice.js";
import { $, attempt, button, element, notice, textOf, valueOf } from "./dom.js";
import { Engine } from "./enginepanel.js";
import { follow } from "./follow.js";
import { opponentsBy } from "./form.js";
import { playOn } from "./matchpanels.js";
import { PlayedMatch } from "./playedmatch.js";
import { Remote } from "./remote.js";
import { ReportPanel } from "./reportpanel.js";
import { Refused, address, ask, tell } from "./site.js";
import { TreePanel } from "./treepanel.js";
import { showOther } from "./otherviewer.js";
import { Viewer } from "./viewer.js";

const key = decodeURIComponent(location.pathname.slice("/match/".length));
const wanted = location.hash.slice(1);
const OTHER_PAGE = "This match goes on in another page, too. Here is how it stands.";

/** Add links to download the match in other forms. @param {Viewer} viewer */
function share(viewer, positioned = viewer.data.kind === "position") {
  const box = element("div.bar");
  /** @param {string} what @param {string} text */
  const link = (what, text) => {
    const made = /** @type {HTMLAnchorElement} */ (element("a", { download: "" }, text));
    const place = () => {
      /** @type {Record<string, string|number>} */
      const query = what === "position" ? { match: key, step: viewer.at } : { match: key };
      made.href = address(`/api/match/${what}`, query);
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
    attempt(async () => {
      const seat = Number(valueOf("out-seat"));
      const players = [null, null].map((_, i) => (i === seat ? null : valueOf("out-opponent")));
      const { match } = await tell("/api/play/new", {
        from: key,
        step: viewer.at,
        players,
      });
      location.href = address(`/match/${match}`);
    });
  const found = opponentsBy(opponents, viewer.data.rules);
  $("about").append(...playOn(viewer, found, undefined, begin));
}

/** Follow a match that is being played elsewhere. @param {Viewer} viewer */
function live(viewer) {
  const end = follow(`live:${key}`, async () => {
    /** @type {any} */
    const news = await ask("/api/match", { match: key, have: viewer.steps.length }).catch(
      (error) => {
        if (error instanceof Refused) notice(error.message);
        return null; // the next news come when the server is back
      },
    );
    if (!news) return;
    Object.assign(viewer.data.cards, news.cards);
    if (news.steps.length) viewer.grow(news.start, news.steps);
    if (news.live) return;
    end();
    if (news.next_key) location.replace(address(`/match/${news.next_key}`));
  });
}

/** A match that is played here. @param {any} data */
async function play(data) {
  const machine = new Remote(key, data.cards, data.play);
  /** @type {PlayedMatch|null} */
  let playing = null;
  const refused = (/** @type {unknown} */ error) => {
    const gone = error instanceof Refused && error.status === 409;
    notice(gone ? OTHER_PAGE : textOf(error));
    if (!gone) return;
    machine.take(error.data.standing);
    news();
  };
  const news = async () => {
    const { standing } = machine;
    if (playing && standing) {
      const { path, chats } = standing;
      await playing.doing(() => playing?.sync(path, chats) ?? Promise.resolve());
      if (standing.over) playing.over(standing.over.winner ?? null);
    } else if (standing?.over) ended(data, standing.over);
    else if (standing && !standing.choosing) await begin();
    else await choose();
  };
  const begin = async () => {
    const { steps } = await ask("/api/match", { match: key });
    if (playing) return;
    playing = new PlayedMatch($("main"), { ...data, steps }, from);
    playing.failed = refused;
    await news();
  };
  const leave = leaver(machine, data);
  const from = {
    machine,
    advice: new Remote(key, data.cards),
    turn: {},
    back: data.seat === null ? "Stop" : "New match",
    leave,
    ending: () => (machine.standing?.over ? endingOf(data, machine.standing.over) : []),
  };
  const bar = () => element("div.bar", button("#leave", from.back, leave));
  const chooser = new ChoiceView($("main"), data, {
    choose: (cards) => pick(cards),
    hint: async () => (await machine.ask("answers", {}))[0],
    tell: notice,
    place: key,
  });
  /** @type {Promise<unknown>} */
  let picking = Promise.resolve();
  const pick = (/** @type {string[]} */ cards) => {
    const { dataset } = document.body;
    if (dataset.asked === "false") return; // the second click of a double one
    dataset.asked = "false";
    picking = attempt(async () => {
      notice();
      try {
        const { version } = /** @type {import("./remote.js").Standing} */ (machine.standing);
        machine.take(await tell("/api/play/choose", { match: key, version, cards }));
      } catch (error) {
        dataset.asked = "true";
        return refused(error);
      }
      await news();
    });
  };
  const choose = async () => {
    if (data.seat === null) {
      $("main").replaceChildren(element("p.prompt", "The match is starting\u2026"), bar());
      await machine.ask("turn", { path: [] });
      return news();
    }
    const { offers } = await machine.ask("offers", {});
    const { chosen } = /** @type {import("./remote.js").Standing} */ (machine.standing);
    const { size, copies } = data;
    const choice = { draft: data.rules !== "1.5", offer: offers[offers.length - 1], chosen };
    chooser.show({ ...choice, size, copies }, bar());
    document.body.dataset.asked = "true";
  };
  await news();
  if (machine.standing?.over) return;
  const end = follow(`match:${key}`, async () => {
    if (!machine.standing) return;
    try {
      const now = await ask("/api/play/state", { match: key });
      // A change by this page, also one in the meantime, is shown by its own answer first.
      await Promise.all([picking, playing?.working]);
      if (now.version <= /** @type {any} */ (machine.standing).version) return;
      if (data.seat !== null) notice(OTHER_PAGE);
      machine.take(now);
      await news();
    } catch (error) {
      if (!(error instanceof Refused)) return; // the page says that the server has gone
      notice(error.message);
      end();
    }
    if (machine.standing?.over) end();
  });
}

/** Leaves a match at the second press. @param {Remote} machine @param {any} data */
function leaver(machine, data) {
  /** The version at which it was pressed. @type {number|undefined} */
  let asked = -1;
  return () =>
    attempt(async () => {
      if (!machine.standing?.over && asked !== machine.standing?.version) {
        asked = machine.standing?.version;
        const name = data.seat === null ? "Stop" : "New match";
        notice(`This match is not over and would not be saved. Press ${name} again to leave it.`);
        return;
      }
      if (!machine.standing?.over) await tell("/api/play/leave", { match: key });
      location.href = address("/");
    });
}

/** A match that ended before its battle. @param {any} data @param {import("./remote.js").Over} over */
function ended(data, over) {
  const title = element("h2.result", "The match is over");
  const again = element("a#again", { href: address("/") }, "New match");
  document.body.dataset.over = "true";
  $("main").replaceChildren(element("div#ending.ending", title, ...endingOf(data, over), again));
}

/** What is to be said and done at the end. @param {any} data @param {import("./remote.js").Over} over */
function endingOf(data, over) {
  const { seat } = data;
  const parts = [];
  if (over.fault) {
    const { player, kind, message } = over.fault;
    const words = `${data.names[player]} lost by a fault: ${kind}: ${message}`;
    parts.push(element("p", element("bdi", words)));
  }
  if (over.error) parts.push(element("p", over.error));
  if (over.path) parts.push(element("p.small", `Saved as ${over.path}`));
  else if (over.replay) {
    const log = {
      href: address("/api/match/log", { match: over.replay }),
      download: "",
    };
    const link = element("a", log, "Download the log");
    const rest = ", or start the server with --save FOLDER.";
    parts.push(element("p.small", "Not saved: it is kept until the server ends. ", link, rest));
  }
  for (const text of over.stderr ?? [])
    if (text)
      parts.push(
        element(
          "details",
          { open: Boolean(over.fault) },
          element("summary", "Standard error of the opponent"),
          element("pre", text),
        ),
      );
  const links = element("p.bar");
  const rematch = () =>
    attempt(async () => {
      const players = [...data.players].reverse();
      const { match } = await tell("/api/play/new", {
        rules: data.rules,
        again: key,
        players,
      });
      location.href = address(`/match/${match}`);
    });
  if (seat !== null) links.append(button("#rematch.main", "Rematch", rematch));
  if (over.replay) {
    const there = address(`/match/${over.replay}`);
    links.append(
      element("a#watch", { href: there }, "Replay"),
      element("a#toreport", { href: `${there}#report` }, "Report"),
    );
    const again = address(`/practice#match=${over.replay}&seat=${seat}`);
    if (seat !== null) links.append(element("a#learn", { href: again }, "Try again"));
  }
  return links.childElementCount ? [...parts, links] : parts;
}

/** A match of another game. @param {import("./otherviewer.js").OtherMatch} data */
function other(data) {
  const grow = showOther($("main"), data, (have) => ask("/api/match", { match: key, have }));
  if (!data.running) return;
  const end = follow(`live:${key}`, async () => {
    if (!(await grow().catch(() => true))) end();
  });
}

attempt(async () => {
  const data = await ask("/api/match", { match: key });
  const main = $("main");
  if (data.kind === "other") return other(data);
  if (data.play) return play(data);
  const viewer = new Viewer(main, data);
  if (data.live) {
    viewer.show(viewer.steps.length - 1);
    live(viewer);
    return;
  }
  const positioned = data.kind === "position";
  const engine = new Engine(viewer, new Remote(key, viewer.data.cards));
  new TreePanel(viewer, engine, key);
  const report = positioned ? null : new ReportPanel(viewer, key, engine);
  share(viewer);
  if (positioned || wanted === "engine") viewer.panels.open("engine");
  else if (report && wanted === "report") report.open();
  viewer.redraw();
  await playOut(viewer);
});
