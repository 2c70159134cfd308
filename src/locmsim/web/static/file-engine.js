// @ts-check
// The one-file page with an engine: shows the match that it carries.

import { $ } from "./dom.js";
import { FilePage } from "./filematch.js";
import { unpacked } from "./packed.js";
import { Local } from "./local.js";
import { begunOf } from "./matchtext.js";

/** @type {import("./viewer.js").Match & {engine: import("./local.js").Packed, files: string}} */
const carried = JSON.parse($("data").textContent ?? "");

new FilePage($("main"), carried, new Local(carried.engine), async () => {
  const { log } = await unpacked(carried.files).json();
  return begunOf(JSON.parse(log), carried.offers.length);
});
