// @ts-check
// The texts of a match that a page deals or plays on: what players are sent in the choice phase, and
// the log of the whole.

/** A match: its seed, its cards by key, what both are offered, step by step, and what each took.
 * @typedef {{seed: string, deck: import("./cards.js").Deck, offers: string[][], taken: string[][],
 *   seat: number, level: number, answers: string[][], texts: string[][]}} Table */
/** What the log of a match says of everything before its battle.
 * @typedef {{gameParameters: string[], locmsim: Record<string, any>, answers: string[][]}} Begun */

/** The instance id of all cards on offer. */
const OFFERED_ID = -1;

/** What a player is sent in a step of the choice phase. @param {string} rules @param {any[][]} rows
 * @param {number} step @param {number} player */
export function offerText(rules, rows, step, player) {
  const later = rules !== "1.5";
  const line = (/** @type {number} */ deck) => `30 0 ${deck} ${later ? "25 " : ""}0\n`;
  const written = rows.map(
    ([id, type, cost, attack, defense, letters, mine, theirs, draw, area]) => {
      const words = [id, OFFERED_ID, 0, type, cost, attack, defense, letters, mine, theirs, draw];
      if (!later) words.push(area);
      if (rules !== "1.0") words.push(-1);
      return `${words.join(" ")} \n`;
    },
  );
  return `${line(step)}${line(step + (later ? player : 0))}0 0\n${rows.length}\n${written.join("")}`;
}

/** The beginning of the log of a match that follows from its seed. @param {string} seed
 * @param {string} rules @param {string[][]} answers those of the choice phase @returns {Begun} */
export function begunFrom(seed, rules, answers) {
  return { gameParameters: [`seed=${seed}\n`], locmsim: { rules, ids: "new" }, answers };
}

/** The same of a match that has a log. @param {any} log
 * @param {number} count how many answers of each player are of the choice phase @returns {Begun} */
export function begunOf({ gameParameters, locmsim, outputs }, count) {
  const { rules, cards, decks } = locmsim;
  const answers = [0, 1].map((player) => answersIn(outputs, player).slice(0, count));
  return { gameParameters, locmsim: { rules, ids: "new", cards, decks }, answers };
}

/** The log of a match that is over, as the referee writes it. @param {Begun} begun
 * @param {import("./viewer.js").Match} match */
export function logOf({ gameParameters, locmsim, answers }, match) {
  /** @type {{player: number, actions: string[]}[]} */
  const turns = [];
  // Who dies from drawing is still asked.
  for (const { action, player } of match.steps)
    if (action === null) turns.push({ player, actions: [] });
    else turns[turns.length - 1].actions.push(action);
  /** @type {Record<string, (string|null)[]>} */
  const outputs = { 0: [], 1: [], referee: [] };
  const summaries = [""];
  const add = (/** @type {number} */ player, /** @type {string} */ line) => {
    outputs[player].push(line);
    outputs[1 - player].push(null);
    outputs.referee.push(null);
  };
  answers[0].forEach((line, i) => {
    add(0, line);
    add(1, answers[1][i]);
  });
  for (const { player, actions } of turns) {
    add(player, actions.join(";") || "PASS");
    summaries.push(...actions.map((action) => `Player $${player} performed action: ${action}`));
  }
  const winner = match.winner ?? 0;
  const agents = match.names.map((name, index) => ({ index, name }));
  return JSON.stringify({
    errors: null,
    outputs,
    summaries: [summaries.join("\n")],
    views: [],
    scores: { 0: winner === 0 ? 1 : 0, 1: winner },
    gameParameters,
    locmsim,
    failCause: null,
    agents,
  });
}

/** The answers of a player in a log. @param {Record<number, any[]>} outputs @param {number} player
 * @returns {string[]} */
const answersIn = (outputs, player) =>
  outputs[player]
    .filter((one) => typeof one === "string" && one !== "")
    .map((one) => one.replace(/\r?\n$/, ""));
