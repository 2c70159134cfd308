// @ts-check
// What the panel "Engine" asks, answered by the server.

import { Refused, notice, send, tell } from "./site.js";

/** Milliseconds after which a server that was busy is asked again. */
const BUSY_MS = 500;

/** @type {import("./engine.js").Source} */
export const server = {
  step: (asked) => tell("/api/analyse/step", asked),
  chance: (asked) => tell("/api/analyse/chance", asked),
  async search(asked) {
    try {
      return await tell("/api/analyse/search", asked);
    } catch (error) {
      if (!(error instanceof Refused && error.status === 429)) throw error;
      await new Promise((resolve) => setTimeout(resolve, BUSY_MS));
      return null;
    }
  },
  stop: (asked) => send("/api/analyse/stop", asked),
  tell: notice,
};
