// @ts-check
// Follows what grows: a list, a game, a search. All pages share one stream of news.

import { $ } from "./dom.js";
import { token } from "./site.js";
import { Stream } from "./stream.js";

/** @typedef {import("./stream.js").News} News */

const GONE = "The server does not answer. Is it still running? This page goes on once it is back.";
const ANEW = "The server was started again: open the address that the terminal printed.";

/** What is followed, and what to do with a new version.
 * @type {Map<string, Set<(version: string|null) => void>>} */
const followed = new Map();
/** The versions that were told. @type {Map<string, string|null>} */
const versions = new Map();

/** @param {News} news */
function take({ topic, version, server }) {
  if (server !== undefined) {
    $("server").textContent = server === "here" ? "" : server === "gone" ? GONE : ANEW;
    $("server").hidden = server === "here";
  }
  if (topic === undefined || version === undefined) return;
  versions.set(topic, version);
  for (const told of followed.get(topic) ?? []) told(version);
}

/** Without a token nothing is followed. @type {(what: "follow"|"leave"|"end", topic?: string) => void} */
let send = () => {};

function connect() {
  if (typeof SharedWorker === "function") {
    const worker = new SharedWorker("/static/worker.js", { type: "module", name: token });
    worker.port.onmessage = (event) => take(event.data);
    send = (what, topic) => worker.port.postMessage({ what, topic });
    return;
  }
  const stream = new Stream(token);
  send = (what, topic = "") => (what === "end" ? stream.end(take) : stream[what](topic, take));
}

/** Call `work` with the version of a topic, now and after each change; while it is at work, changes
 * wait for it. Returns what ends that.
 * @param {string} topic @param {(version: string|null) => Promise<unknown>|void} work */
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
      await work(versions.get(topic) ?? null);
    }
    busy = false;
  };
  const others = followed.get(topic);
  if (others) others.add(told);
  else {
    followed.set(topic, new Set([told]));
    send("follow", topic);
  }
  if (versions.has(topic)) told();
  return () => {
    ended = true;
    const all = followed.get(topic);
    if (!all?.delete(told) || all.size) return;
    followed.delete(topic);
    versions.delete(topic);
    send("leave", topic);
  };
}

if (token) {
  connect();
  // A page that is shown again from the browser's memory follows again.
  addEventListener("pagehide", () => send("end"));
  addEventListener("pageshow", (event) => {
    if (event.persisted) for (const topic of followed.keys()) send("follow", topic);
  });
  follow("server", () => {});
}
