// @ts-check
// The worker of a page's file: it has the engine, and answers one message after the other.

import { Machine } from "./machine.js";

const place = /** @type {any} */ (self);
/** @type {any} */
let machine;

place.onmessage = async (/** @type {MessageEvent} */ { data: { id, what, asked } }) => {
  try {
    if (what === "load") machine = await Machine.load(asked.module, asked.battle);
    place.postMessage({ id, answer: what === "load" ? null : machine[what](asked) });
  } catch (error) {
    place.postMessage({ id, error: error instanceof Error ? error.message : String(error) });
  }
};
