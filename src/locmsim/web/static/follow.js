// @ts-check
// Follows what grows: a list, a match, a search. A page that is seen asks for the versions of what it
// shows, and tells whoever follows a thing that it has another one.

import { $ } from "./dom.js";
import { Refused, ask, token } from "./site.js";

/** Milliseconds between two questions. */
const EVERY_MS = 500;
const GONE = "The server does not answer. Is it still running? This page goes on once it is back.";
const ANEW = "The server was started again: open the address that the terminal printed.";

/** What is followed: its version, undefined until it is known, and whom to tell.
 * @type {Map<string, {version: string|null|undefined, told: Set<() => void>}>} */
const followed = new Map();
let asking = false;

/** Whether to ask: a hidden page does so only for a search, which ends when no page asks for it. */
const wanted = () =>
  token && (!document.hidden || [...followed.keys()].some((topic) => topic.startsWith("job:")));

async function look() {
  if (asking || !wanted()) return;
  asking = true;
  let trouble = "";
  try {
    /** @type {Record<string, string|null>} */
    const found = await ask("/api/news", { topics: [...followed.keys()].join() });
    for (const [topic, version] of Object.entries(found)) {
      const one = followed.get(topic);
      if (!one || one.version === version) continue;
      one.version = version;
      for (const told of one.told) told();
    }
  } catch (error) {
    trouble = error instanceof Refused && error.status === 403 ? ANEW : GONE;
  }
  $("server").textContent = trouble;
  $("server").hidden = !trouble;
  asking = false;
  // Something was followed in the meantime.
  if (!trouble && [...followed.values()].some(({ version }) => version === undefined)) look();
}

/** Call `work` now and after each change of a topic; while it is at work, changes wait for it.
 * Returns what ends that.
 * @param {string} topic @param {() => Promise<unknown>|void} work */
export function follow(topic, work) {
  let busy = false;
  let again = false;
  let ended = false;
  const told = async () => {
    again = true;
    if (busy) return;
    busy = true;
    while (again && !ended) {
      again = false;
      await work();
    }
    busy = false;
  };
  const one = followed.get(topic) ?? { version: undefined, told: new Set() };
  one.told.add(told);
  followed.set(topic, one);
  if (one.version === undefined) look();
  else told();
  return () => {
    ended = true;
    one.told.delete(told);
    if (!one.told.size && followed.get(topic) === one) followed.delete(topic);
  };
}

setInterval(look, EVERY_MS);
document.addEventListener("visibilitychange", look);
