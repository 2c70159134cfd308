// @ts-check
// One stream of news for all pages of a browser: its name is the token.

import { Stream } from "./stream.js";

const worker = /** @type {any} */ (self);
const stream = new Stream(worker.name);

worker.onconnect = (/** @type {MessageEvent} */ event) => {
  const [port] = event.ports;
  const listener = (/** @type {import("./stream.js").News} */ news) => port.postMessage(news);
  port.onmessage = ({ data: { what, topic } }) => {
    if (what === "follow") stream.follow(topic, listener);
    else if (what === "leave") stream.leave(topic, listener);
    else stream.end(listener);
  };
};
