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

/** What a log says of its match: the answers to each player's questions, and how it ended.
 * @typedef {{seed: string, names: string[], answers: string[][], winner: number|null,
 *   fault: null|{player: number, kind: string, message: string}}} Logged */

/** The answers of a player in a log. @param {Record<number, any[]>} outputs @param {number} player
 * @returns {string[]} */
const answersIn = (outputs, player) =>
  outputs[player]
    .filter((one) => typeof one === "string" && one !== "")
    .map((one) => one.replace(/\r?\n$/, ""));

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
  const answers = [0, 1].map((player) => answersIn(log.outputs, player));
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
