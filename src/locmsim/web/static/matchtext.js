// @ts-check
// The texts of a match that a page deals itself: what players are sent in the choice phase, and the
// log of the whole.

/** A match: its seed, its cards by key, what both are offered, step by step, and what each took.
 * @typedef {{seed: string, deck: import("./cards.js").Deck, offers: string[][], taken: string[][],
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

/** What a log says of its match: the answers to each player's questions, and how it ended.
 * @typedef {{seed: string, names: string[], answers: string[][], winner: number|null,
 *   fault: null|{player: number, kind: string, message: string}}} Logged */

/** The seeds that follow from one, as Java draws them. @param {bigint} seed @param {number} count */
function derivedSeeds(seed, count) {
  const step = 0x5deece66dn;
  let state = BigInt.asUintN(48, seed ^ step);
  const half = () => {
    state = BigInt.asUintN(48, state * step + 11n);
    return BigInt.asIntN(32, state >> 16n);
  };
  return Array.from({ length: count }, () => BigInt.asIntN(64, (half() << 32n) + half()));
}

/** A seed as it stands in a log; null for any other text. @param {string|undefined} text */
const seedOf = (text) => (/^-?\d{1,19}$/.test(text ?? "") ? BigInt(text ?? "") : null);

/** Check that a match follows from its seed alone, and return it. @param {string[]} lines
 * @param {string[]} names the seeds that follow from it */
function seedOfParams(lines, names) {
  const params = new Map(
    lines.map((line) => {
      const at = line.indexOf("=");
      return [line.slice(0, at).trim(), line.slice(at + 1).trim()];
    }),
  );
  const seed = seedOf(params.get("seed"));
  if (seed === null) throw new Error("The log does not name the seed of its match.");
  const derived = derivedSeeds(seed, names.length);
  for (const [name, value] of params) {
    const place = names.indexOf(name);
    const known =
      name === "seed" || name === "draftChoicesSeed" || `${name}=${value}` === "league=4";
    if (place >= 0 && seedOf(value) !== derived[place])
      throw new Error(`The log has ${name}=${value}, which does not follow from its seed.`);
    if (place < 0 && !known)
      throw new Error(`The log has the parameter ${name}, which this page does not know.`);
  }
  return String(seed);
}

/** Read a log of the referee's form. @param {string} text @param {string} rules those of the page
 * @param {string[]} seedNames the seeds of these rules @returns {Logged} */
export function readLog(text, rules, seedNames) {
  let log;
  try {
    log = JSON.parse(text);
  } catch (error) {
    throw new Error(`This is not a log: ${error instanceof Error ? error.message : error}`);
  }
  const own = log?.locmsim ?? {};
  if (![0, 1].every((player) => Array.isArray(log?.outputs?.[player])))
    throw new Error("This is not a log of a match.");
  if (own.rules && own.rules !== rules)
    throw new Error(`The log is of rules ${own.rules}: this page plays by rules ${rules}.`);
  if (own.ids === "old")
    throw new Error("The log has the instance ids of 2022, which this page does not know.");
  if (own.cards || own.decks)
    throw new Error("The log has cards or decks of its own, which this page does not know.");
  const lines = (log.gameParameters ?? []).flatMap((/** @type {any} */ one) =>
    String(one).split("\n"),
  );
  const seed = seedOfParams(
    lines.filter((/** @type {string} */ line) => line.includes("=")),
    seedNames,
  );
  const answers = [0, 1].map((player) =>
    log.outputs[player]
      .filter((/** @type {any} */ one) => typeof one === "string" && one !== "")
      .map((/** @type {string} */ one) => one.replace(/\r?\n$/, "")),
  );
  const names = [0, 1].map((player) => {
    const agent = log.agents?.find((/** @type {any} */ one) => one?.index === player);
    return String(agent?.name || `Player ${player}`);
  });
  const [first, second] = [0, 1].map((player) => Number(log.scores?.[player]));
  const winner = first > second ? 0 : second > first ? 1 : null;
  const cause = /^\$([01]): ([^:]+): ([^]*)$/.exec(log.failCause ?? "");
  const fault = cause && { player: Number(cause[1]), kind: cause[2], message: cause[3] };
  return { seed, names, answers, winner, fault };
}
