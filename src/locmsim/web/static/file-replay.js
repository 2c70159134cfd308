// @ts-check
// The one-file page: shows the match that it carries.

import { $ } from "./dom.js";
import { Viewer } from "./viewer.js";

new Viewer($("main"), JSON.parse($("data").textContent ?? ""));
