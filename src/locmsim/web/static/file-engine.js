// @ts-check
// The one-file page with an engine: shows the match that it carries.

import { $ } from "./dom.js";
import { FilePage } from "./filepage.js";
import { Local } from "./local.js";

/** @type {import("./viewer.js").Match & {engine: import("./local.js").Packed}} */
const carried = JSON.parse($("data").textContent ?? "");

new FilePage($("main"), carried, new Local(carried.engine));
