// @ts-check
// The texts of a match that a page deals itself: what players are sent in the choice phase, and the
// log of the whole.

/** A match: its seed, its cards by key, what both are offered, step by step, and what each took.
 * @typedef {{seed: number, deck: import("./cards.js").Deck, offers: string[][], taken: string[][],
 *   seat: number, level: number, answers: string[][], texts: string[][]}} Table */

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

/** The log of a match that is over, as the referee writes it. @param {Table} table
 * @param {string} rules @param {import("./viewer.js").Match} match */
export function logOf(table, rules, match) {
  /** @type {{player: number, actions: string[]}[]} */
  const turns = [];
  for (const { action, player, board } of match.steps) {
    if (action !== null) turns[turns.length - 1].actions.push(action);
    else if (board.winner === null) turns.push({ player, actions: [] });
  }
  /** @type {Record<string, (string|null)[]>} */
  const outputs = { 0: [], 1: [], referee: [] };
  const summaries = [""];
  const add = (/** @type {number} */ player, /** @type {string} */ line) => {
    outputs[player].push(line);
    outputs[1 - player].push(null);
    outputs.referee.push(null);
  };
  table.answers[0].forEach((line, i) => {
    add(0, line);
    add(1, table.answers[1][i]);
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
    gameParameters: [`seed=${table.seed}\n`],
    locmsim: { rules, ids: "new" },
    failCause: null,
    agents,
  });
}
