// Runs the engine of a page's file for tests: one question a line, one answer a line, as JSON.
import { readFile } from "node:fs/promises";
import { createInterface } from "node:readline";
import { pathToFileURL } from "node:url";

const [folder, module, battle] = process.argv.slice(2);
const script = (name) => import(pathToFileURL(`${folder}/${name}`).href);
const { Machine } = await script("machine.js");
const { Teller } = await script("local.js");
const { begunFrom, begunOf, logOf, offerText } = await script("matchtext.js");
const compiled = await WebAssembly.compile(await readFile(module));
const machine = await Machine.load(compiled, JSON.parse(await readFile(battle, "utf8")));

/** What only tests ask, beside the methods of the machine. */
const more = {
  look: ({ path }) => {
    const player = machine.go(path);
    const shown = machine.read(machine.engine.locm_engine_shown());
    return { player, board: machine.board(), legal: machine.legal(), shown };
  },
  /** The steps of a page after the first one. */
  steps: ({ actions, data }) => {
    const teller = new Teller(data);
    const first = (machine.go([]), teller.position(machine.board()));
    return teller.steps(actions, first, machine.walk({ path: [], actions }));
  },
  texts: ({ rules, offers, player }) =>
    offers.map((rows, step) => offerText(rules, rows, step, player)),
  log: ({ seed, rules, answers, match }) => logOf(begunFrom(seed, rules, answers), match),
  /** The log of a match that was played on from another one's. */
  playedOn: ({ log, choices, match }) => logOf(begunOf(log, choices), match),
  find: ({ path, seed, most, plans }) => machine.search(machine.go(path), seed, 0, most, plans),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { what, asked } = JSON.parse(line);
  let answer;
  try {
    answer = { answer: more[what] ? more[what](asked) : machine[what](asked) };
  } catch (error) {
    answer = { error: error.message };
  }
  console.log(JSON.stringify(answer));
}
