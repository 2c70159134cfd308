// @ts-check
// News of everything that pages follow, by one request that the server holds back until something
// has changed. Runs once for all pages of a browser (worker.js), or in a page by itself.

/** What a listener is told: the version of a topic, null if there is no such thing, or how the
 * server is. @typedef {{topic?: string, version?: string|null, server?: "here"|"gone"|"anew"}} News */
/** @typedef {(news: News) => void} Listener */

/** Milliseconds until a server that does not answer is asked again. */
const AGAIN_MS = 1000;

export class Stream {
  /** @param {string} token */
  constructor(token) {
    this.token = token;
    this.boot = "";
    /** @type {Map<string, {version: string|null|undefined, listeners: Map<Listener, number>}>} */
    this.topics = new Map();
    this.running = false;
    this.server = /** @type {"here"|"gone"|"anew"} */ ("here");
    this.waiting = new AbortController();
  }

  /** @param {string} topic @param {Listener} listener */
  follow(topic, listener) {
    const known = this.topics.get(topic);
    const { listeners, version } = known ?? { listeners: new Map(), version: undefined };
    listeners.set(listener, (listeners.get(listener) ?? 0) + 1);
    if (this.server !== "here") listener({ server: this.server });
    if (version !== undefined) listener({ topic, version });
    if (known) return;
    this.topics.set(topic, { version, listeners });
    this.waiting.abort();
    this.run();
  }

  /** @param {string} topic @param {Listener} listener */
  leave(topic, listener) {
    const listeners = this.topics.get(topic)?.listeners;
    const times = listeners?.get(listener);
    if (!listeners || !times) return;
    if (times > 1) listeners.set(listener, times - 1);
    else listeners.delete(listener);
    if (listeners.size) return;
    this.topics.delete(topic);
    this.waiting.abort();
  }

  /** Leave everything. @param {Listener} listener */
  end(listener) {
    for (const [topic, { listeners }] of this.topics)
      if (listeners.has(listener)) {
        listeners.set(listener, 1);
        this.leave(topic, listener);
      }
  }

  /** Ask for news as long as anything is followed. */
  async run() {
    if (this.running) return;
    this.running = true;
    while (this.topics.size) {
      this.waiting = new AbortController();
      try {
        await this.ask(this.waiting.signal);
      } catch {
        if (this.waiting.signal.aborted) continue; // something else is followed now
        this.tell("gone");
        await new Promise((resolve) => setTimeout(resolve, AGAIN_MS));
      }
    }
    this.running = false;
  }

  /** @param {AbortSignal} signal */
  async ask(signal) {
    /** @type {Record<string, string|null>} */
    const known = {};
    for (const [topic, { version }] of this.topics)
      known[topic] = version === undefined ? "unknown" : version;
    const answer = await fetch(`/api/news?${new URLSearchParams({ token: this.token })}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ boot: this.boot, known }),
      signal,
    });
    if (answer.status === 403) {
      this.tell("anew");
      await new Promise((resolve) => setTimeout(resolve, 5 * AGAIN_MS));
      return;
    }
    if (!answer.ok) throw new Error(String(answer.status));
    const { boot, news } = await answer.json();
    this.tell("here");
    this.boot = boot;
    for (const [topic, version] of Object.entries(news)) {
      const followed = this.topics.get(topic);
      if (!followed) continue;
      followed.version = version;
      for (const listener of followed.listeners.keys()) listener({ topic, version });
    }
  }

  /** Tell everybody how the server is. @param {"here"|"gone"|"anew"} server */
  tell(server) {
    if (this.server === server) return;
    this.server = server;
    const all = [...this.topics.values()].flatMap(({ listeners }) => [...listeners.keys()]);
    for (const listener of new Set(all)) listener({ server });
  }
}
