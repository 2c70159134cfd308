// @ts-check
// A game between the person and a bot.

import { painter } from "./cards.js";
import { CurveView } from "./curve.js";
import { $, Refused, address, ask, element, notice, select, shown, tell, valueOf } from "./site.js";
import { Table, nameOf, wordsOf } from "./table.js";

/** @typedef {import("./table.js").Board} Board */
/** @typedef {{draft: boolean, offer: string[], chosen: string[], size: number,
 *   copies: number}} Choice */
/** @typedef {{winner?: number, scores?: number[], stderr?: string, replay?: string, path?: string,
 *   fault?: null|{player: number, kind: string, message: string}, error?: string}} Over */
/** @typedef {{game: string, version: number, by: string, by_version: number, rules: string, seed: string, seat: number,
 *   names: string[], asked: boolean, choice: Choice|null, board: Board|null, actions: string[],
 *   done: string[], steps: {action: string, card: string, board: Board}[], chat: string, over: Over|null}} View */

const OTHER_PAGE = "This game goes on in another page, too. Here is how it stands.";
const STEP_MS = 800;
const client = crypto.randomUUID();
const still = matchMedia("(prefers-reduced-motion: reduce)");

/** @type {View} */
let view;
/** @type {import("./cards.js").Deck} */
let deck;
/** @type {ReturnType<typeof painter>} */
let draw;
/** @type {Table|null} */
let table = null;
/** The deck that is being built. @type {string[]} */
let chosen = [];
/** The change that is under way. @type {Promise<boolean>|null} */
let changing = null;
/** Numbers what is being shown step by step. */
let film = 0;
/** The turn that was shown last. */
let lastTurn = -1;
let leaving = false;
/** Whether actions that were advised are being carried out. */
let obeying = false;
/** Whether the opponent's moves are being shown: until they have been, nothing can be done. */
let filming = false;
/** Whether a game is being begun. */
let starting = false;

// ---------------------------------------------------------------------------------- a new game

async function setup() {
  const choices = await ask("/api/play/choices");
  /** Who plays the rules that are chosen. @returns {[string, string][]} */
  const names = () =>
    choices.opponents
      .filter((/** @type {{rules: string[]}} */ one) => one.rules.includes(valueOf("rules")))
      .map((/** @type {{key: string, name: string}} */ one) => [one.key, one.name]);
  const rules = choices.rules.map((/** @type {string} */ name) => [name, name]);
  const seats = /** @type {const} */ ([
    ["0", "first"],
    ["1", "second"],
    ["", "by lot"],
  ]);
  $("main").replaceChildren(
    element("h1", { text: "A new game" }),
    element(
      "form",
      { class: "bar", onsubmit: begin },
      select("rules", "Rules", rules),
      select("opponent", "Against", []),
      select("seat", "You begin", seats),
      element(
        "label",
        { class: "field" },
        "Seed ",
        element("input", { id: "seed", size: 8, placeholder: "any", inputmode: "numeric" }),
      ),
      element("button", { id: "begin", class: "main", text: "Play" }),
    ),
  );
  const offer = () => {
    const box = /** @type {HTMLSelectElement} */ ($("opponent"));
    const before = box.value;
    const found = names();
    box.replaceChildren(...found.map(([value, text]) => element("option", { value, text })));
    if (found.some(([value]) => value === before)) box.value = before;
  };
  $("rules").addEventListener("change", offer);
  offer();
}

/** @param {Event} event */
function begin(event) {
  event.preventDefault();
  const seed = valueOf("seed").trim();
  if (seed && !/^-?\d{1,19}$/.test(seed)) {
    notice("The seed is a whole number of at most 19 digits.");
    return;
  }
  if (starting) return;
  starting = true;
  const seat = valueOf("seat");
  shown(async () => {
    const fresh = await tell("/api/play/new", {
      rules: valueOf("rules"),
      opponent: valueOf("opponent"),
      seat: seat ? Number(seat) : Math.floor(2 * Math.random()),
      // As a text: the numbers of JavaScript have no room for 64 bits.
      seed: seed || null,
    });
    notice();
    history.pushState(null, "", address("/play", { game: fresh.game }));
    await open(fresh);
  }).finally(() => (starting = false));
}

/** @param {View} fresh */
async function open(fresh) {
  deck = await ask("/api/play/cards", { game: fresh.game });
  draw = painter(deck);
  table = null;
  chosen = [];
  lastTurn = -1;
  leaving = false;
  show(fresh);
  follow();
}

/** Wait for news of the game, again and again. */
async function follow() {
  const game = view.game;
  while (view.game === game && !view.over) {
    try {
      const next = await ask("/api/play/news", { game, after: view.version });
      // Clicks do nothing until the answer is there: what it leads to is not shown before it.
      await changing;
      if (view.game !== game || next.version <= view.version) continue;
      if (next.by !== client && next.by_version > view.version) notice(OTHER_PAGE);
      show(next);
    } catch (error) {
      if (error instanceof Refused) {
        notice(error.message);
        return;
      }
      notice("The server does not answer; is it still running?");
      await new Promise((resolve) => setTimeout(resolve, 3000));
    }
  }
}

/** Change the game; whether it did. @param {string} what @param {Record<string, any>} [data] */
async function change(what, data = {}) {
  if (changing) return false;
  changing = send(what, data);
  try {
    return await changing;
  } finally {
    changing = null;
  }
}

/** @param {string} what @param {Record<string, any>} data */
async function send(what, data) {
  try {
    const { game, version } = view;
    const next = await tell(`/api/play/${what}`, { game, version, client, ...data });
    notice();
    if (next.version > view.version) show(next);
    return true;
  } catch (error) {
    const gone = error instanceof Refused && error.status === 409;
    notice(gone ? OTHER_PAGE : String(/** @type {Error} */ (error).message));
    if (gone) show(/** @type {Refused} */ (error).data.view);
    return false;
  }
}

// ---------------------------------------------------------------------------------- what is shown

/** @param {View} next */
function show(next) {
  if (leaving) {
    leaving = false; // the game went on: New game asks again
    notice();
  }
  view = next;
  const turn = next.board && (next.asked || next.over) ? next.board.turn : lastTurn;
  const fresh = turn !== lastTurn;
  lastTurn = turn;
  film += 1;
  document.body.dataset.version = String(view.version);
  document.body.dataset.asked = String(view.asked);
  document.body.dataset.over = String(view.over !== null);
  if (view.choice) {
    table = null;
    if (view.choice.draft) showDraft(view.choice);
    else showOffer(view.choice);
  } else if (view.board) showBattle(view.board, fresh);
  else showEnd();
}

/** What can be done about the game as a whole. @param {...Node} more */
function bar(...more) {
  return element(
    "div",
    { class: "bar" },
    ...more,
    element("button", {
      id: "hint",
      text: "Hint",
      onclick: hint,
      disabled: !view.asked || filming,
    }),
    element("button", { id: "new", text: "New game", onclick: leave }),
    element("span", { class: "dim", text: `LOCM ${view.rules}, seed ${view.seed}` }),
  );
}

const waiting = () =>
  element(
    "p",
    { class: "prompt", "aria-live": "polite" },
    view.asked ? "" : "The opponent thinks\u2026",
  );

/** @param {Choice} choice */
function showDraft(choice) {
  const offer = element("div", { id: "offer", class: "draft" });
  for (const key of choice.offer) {
    const card = cardButton(key, () => change("cards", { cards: [key] }));
    offer.append(card);
  }
  const curve = new CurveView(deck);
  curve.show(choice.chosen, choice.size);
  $("main").replaceChildren(
    element("h1", { text: `Choose a card: ${choice.chosen.length + 1} of ${choice.size}` }),
    bar(),
    waiting(),
    offer,
    curve.root,
  );
}

/** A card to click. @param {string} key @param {() => void} click */
function cardButton(key, click) {
  const { row, title } = deck.cards[key];
  const button = element("button", {
    class: "pick",
    "data-card": key,
    "aria-label": title,
    onclick: click,
  });
  button.append(draw(key, row[3], row[4], row[5]));
  return button;
}

/** @param {Choice} choice */
function showOffer(choice) {
  if (!view.asked) {
    $("main").replaceChildren(element("h1", { text: "Your deck" }), bar(), waiting());
    return;
  }
  const curve = new CurveView(deck, (key) => {
    chosen.splice(chosen.lastIndexOf(key), 1);
    count();
  });
  const done = element("button", {
    id: "ready",
    class: "main",
    text: "Play with this deck",
    onclick: () => change("cards", { cards: chosen }),
  });
  const offer = element("div", { id: "offer", class: "offer" });
  /** @type {Map<string, HTMLElement>} */
  const buttons = new Map();
  for (const key of choice.offer) {
    const button = cardButton(key, () => {
      const copies = chosen.filter((one) => one === key).length;
      if (copies < choice.copies && chosen.length < choice.size) chosen.push(key);
      else
        notice(
          copies < choice.copies ? "The deck is full." : `At most ${choice.copies} of a card.`,
        );
      count();
    });
    button.append(element("span", { class: "copies" }));
    buttons.set(key, button);
  }
  const count = () => {
    for (const [key, button] of buttons) {
      const copies = chosen.filter((one) => one === key).length;
      const badge = /** @type {HTMLElement} */ (button.querySelector(".copies"));
      badge.textContent = copies ? `\u00d7${copies}` : "";
      button.classList.toggle("picked", copies > 0);
    }
    curve.show(chosen, choice.size);
    /** @type {HTMLButtonElement} */ (done).disabled = chosen.length !== choice.size;
  };
  const order = () => {
    const [by, kind] = [valueOf("order"), valueOf("kind")];
    /** @type {Record<string, (row: any[]) => number>} */
    const keys = {
      cost: (row) => row[2],
      attack: (row) => -row[3],
      defense: (row) => -row[4],
      number: (row) => row[0],
    };
    const wanted = choice.offer.filter(
      (key) => !kind || String(Math.min(1, deck.cards[key].row[1])) === kind,
    );
    wanted.sort((a, b) => keys[by](deck.cards[a].row) - keys[by](deck.cards[b].row));
    offer.replaceChildren(...wanted.map((key) => /** @type {HTMLElement} */ (buttons.get(key))));
  };
  const clear = () => {
    chosen = [];
    count();
  };
  $("main").replaceChildren(
    element("h1", { text: `Choose ${choice.size} cards, at most ${choice.copies} of each` }),
    bar(done, element("button", { id: "clear", text: "Clear", onclick: clear })),
    curve.root,
    element(
      "div",
      { class: "bar" },
      select("order", "Order by", [
        ["cost", "cost"],
        ["attack", "attack"],
        ["defense", "defense"],
        ["number", "number"],
      ]),
      select("kind", "Show", [
        ["", "all"],
        ["0", "creatures"],
        ["1", "items"],
      ]),
    ),
    offer,
  );
  for (const id of ["order", "kind"]) $(id).addEventListener("change", order);
  order();
  count();
}

/** @param {Board} board @param {boolean} fresh */
function showBattle(board, fresh) {
  if (!table) {
    const host = element("div", { class: "table" });
    $("main").replaceChildren(
      element("div", { id: "tools" }),
      element(
        "div",
        { class: "columns" },
        host,
        element("aside", {}, element("div", { id: "advice" }), element("div", { id: "said" })),
      ),
    );
    table = new Table(host, deck, draw, (action) => {
      if (!obeying && !filming) change("do", { action });
    });
  }
  filming = fresh && view.steps.length > 1 && !still.matches;
  const button = (
    /** @type {string} */ id,
    /** @type {string} */ text,
    /** @type {() => void} */ onclick,
  ) => element("button", { id, text, onclick, disabled: !view.asked || obeying || filming });
  const end = button("end", "End turn", () => change("end"));
  end.classList.add("main");
  const undo = button("undo", "Undo", () => change("undo"));
  undo.toggleAttribute("disabled", !view.done.length || !view.asked || obeying || filming);
  $("tools").replaceChildren(bar(end, undo));
  if (fresh || !view.asked) $("advice").replaceChildren();
  drawSaid();
  const scene = { board, seat: view.seat, names: view.names };
  const final = () => {
    if (filming) {
      filming = false;
      end.toggleAttribute("disabled", !view.asked || obeying);
      undo.toggleAttribute("disabled", !view.done.length || !view.asked || obeying);
      $("hint").toggleAttribute("disabled", !view.asked);
    }
    table?.show(view.asked ? { ...scene, actions: view.actions } : scene);
    if (!view.asked && table)
      table.prompt.textContent = view.over ? "The game is over." : "The opponent thinks\u2026";
    if (view.over) showEnd();
  };
  if (filming) play(final);
  else final();
}

/** Show what the opponent did, action by action; a click ends that. @param {() => void} final */
function play(final) {
  const own = film;
  let step = 0;
  const names = view.names;
  const steps = view.steps;
  const stop = () => {
    film += 1;
    removeEventListener("pointerdown", interrupt, true);
    final();
  };
  /** The click that ends it does nothing else: what it is on was not there to be aimed at. */
  const interrupt = () => {
    const swallow = (/** @type {Event} */ event) => {
      event.preventDefault();
      event.stopPropagation();
    };
    addEventListener("click", swallow, { capture: true, once: true });
    // The click comes with the end of the press, however long that is.
    const released = () => setTimeout(() => removeEventListener("click", swallow, true), 100);
    addEventListener("pointerup", released, { capture: true, once: true });
    stop();
  };
  const next = () => {
    if (film !== own) {
      removeEventListener("pointerdown", interrupt, true);
      return;
    }
    if (step === steps.length) {
      stop();
      return;
    }
    const { board, action, card } = steps[step];
    const before = step ? steps[step - 1].board : null;
    table?.show({ board, seat: view.seat, names, before, acted: action });
    if (table)
      table.prompt.textContent = action ? sentence(action, card) : "The opponent\u2019s turn";
    step += 1;
    setTimeout(next, STEP_MS);
  };
  addEventListener("pointerdown", interrupt, true);
  next();
}

/** @param {string} action @param {string} [card] that of an action of theirs */
function sentence(action, card) {
  const boards = [view.board, ...view.steps.map((step) => step.board)];
  return wordsOf(deck, action, boards, card ? "you" : view.names[1 - view.seat], card);
}

/** What was done in the opponent's last turn and in this one. */
function drawSaid() {
  /** @param {string} title @param {{action: string, card?: string}[]} steps */
  const list = (title, steps) =>
    element(
      "section",
      {},
      element("h2", { text: title }),
      element(
        "ol",
        {},
        ...steps.map(({ action, card }) => element("li", { text: sentence(action, card) })),
      ),
    );
  const chat = view.chat ? [element("p", { id: "chat" }, element("bdi", { text: view.chat }))] : [];
  $("said").replaceChildren(
    ...chat,
    list("The opponent\u2019s last turn", view.steps.slice(1)),
    list(
      "Your turn",
      view.done.map((action) => ({ action })),
    ),
  );
}

function showEnd() {
  const over = view.over ?? {};
  const box = element("section", { id: "ending", class: "panel" });
  const won = over.winner === view.seat;
  const title = over.winner === undefined ? "The game is over" : won ? "You won" : "You lost";
  box.append(element("h1", { text: title }));
  if (over.fault) {
    const who = view.names[over.fault.player];
    const words = `${who} lost by a fault: ${over.fault.kind}: ${over.fault.message}`;
    box.append(element("p", { text: words }));
  }
  if (over.error) box.append(element("p", { text: over.error }));
  if (over.path) box.append(element("p", { text: `Saved as ${over.path}` }));
  if (over.stderr)
    box.append(
      element("h2", { text: "Standard error of the opponent" }),
      element("pre", { text: over.stderr }),
    );
  const links = element("p", { class: "bar" });
  if (over.replay) {
    const watch = address("/api/replays/watch", { game: over.replay });
    const analyse = address("/analyse", { game: over.replay });
    links.append(
      element("a", { id: "watch", href: watch, text: "Watch it" }),
      element("a", { href: analyse, text: "Analyse it" }),
    );
  }
  links.append(element("button", { id: "again", text: "New game", onclick: leave }));
  box.append(links);
  const place = document.getElementById("tools");
  if (place && table) place.replaceChildren(box);
  else $("main").replaceChildren(box);
}

// ---------------------------------------------------------------------------------- hints

function hint() {
  shown(async () => {
    const asked = view.version;
    const found = await tell("/api/play/hint", { game: view.game });
    if (view.version !== asked) return;
    if (found.cards) {
      if (!view.choice?.draft) {
        chosen = found.cards;
        if (view.choice) showOffer(view.choice);
        return;
      }
      for (const key of found.cards)
        document.querySelector(`#offer [data-card="${key}"]`)?.classList.add("advised");
      notice(`The bot would take ${nameOf(deck, found.cards[0])}.`);
      return;
    }
    const lines = found.actions.map((/** @type {string} */ action) =>
      element("li", { text: sentence(action) }),
    );
    $("advice").replaceChildren(
      element("h2", { text: "From the start of this turn, beam would play" }),
      element(
        "ol",
        { id: "line" },
        ...(lines.length ? lines : [element("li", { text: "nothing" })]),
      ),
      element("p", {
        id: "chance",
        text: `You win then with a chance of ${Math.round(100 * found.chance)} %.`,
      }),
      element("button", { id: "follow", text: "Do that", onclick: () => obey(found.actions) }),
    );
  });
}

/** Play what was advised, instead of what was done so far. @param {string[]} actions */
async function obey(actions) {
  obeying = true;
  const differs = () => view.done.some((action, i) => action !== actions[i]);
  let well = true;
  while (well && view.asked && differs()) well = await change("undo");
  for (const action of actions.slice(view.done.length))
    if (well && view.asked) well = await change("do", { action });
  obeying = false;
  show(view);
}

function leave() {
  shown(async () => {
    if (!view.over && !leaving) {
      leaving = true;
      notice("This game is not over and would not be saved. Press New game again to leave it.");
      return;
    }
    if (!view.over) await tell("/api/play/leave", { game: view.game });
    view = { ...view, game: "", over: {} };
    history.pushState(null, "", address("/play"));
    notice();
    await setup();
  });
}

window.addEventListener("popstate", () => location.reload());
const wanted = new URLSearchParams(location.search).get("game");
shown(async () => {
  if (!wanted) await setup();
  else
    try {
      await open(await ask("/api/play/news", { game: wanted }));
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      await setup();
      notice(error.message);
    }
});
