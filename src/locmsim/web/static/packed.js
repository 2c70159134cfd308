// @ts-check
// What a page saves as a file, and what a page of one file has packed in it.

import { element } from "./dom.js";

/** Save a text as a file. @param {string} text @param {string} name */
export function save(text, name) {
  const href = URL.createObjectURL(new Blob([text], { type: "text/plain" }));
  element("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 60_000);
}

/** What was packed: gzip, then base 64. @param {string} packed */
export function unpacked(packed) {
  const bytes = Uint8Array.from(atob(packed), (letter) => letter.charCodeAt(0));
  return new Response(new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip")));
}
