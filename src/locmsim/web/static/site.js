// @ts-check
// What the pages of the server share: the token, requests, and what goes wrong.

import { $, attempt, notice, onKeys } from "./dom.js";
import { showHelp } from "./help.js";

const NO_TOKEN = "This address lacks the token: open the one that the terminal printed.";
export const token = new URLSearchParams(location.search).get("token") ?? "";

/** An address of this server with the token. @param {string} path
 * @param {Record<string, string|number>} [query] */
export function address(path, query = {}) {
  const words = new URLSearchParams({ token });
  for (const [name, value] of Object.entries(query)) words.set(name, String(value));
  const [place, hash] = path.split("#");
  return `${place}?${words}${hash ? `#${hash}` : ""}`;
}

/** A request that the server refused; the message says why. */
export class Refused extends Error {
  /** @param {string} message @param {number} status @param {any} data */
  constructor(message, status, data) {
    super(message);
    this.status = status;
    this.data = data;
  }
}

/** Ask the server. @param {string} path @param {Record<string, string|number>} [query]
 * @param {RequestInit} [how] @returns {Promise<any>} */
export async function ask(path, query, how) {
  if (!token) throw new Refused(NO_TOKEN, 403, {});
  const response = await fetch(address(path, query), how);
  const data = await response.json().catch(() => ({}));
  if (!response.ok)
    throw new Refused(data.error ?? `the server said ${response.status}`, response.status, data);
  return data;
}

/** Tell the server to do something. @param {string} path @param {any} data */
export function tell(path, data) {
  const headers = { "content-type": "application/json" };
  return ask(path, {}, { method: "POST", headers, body: JSON.stringify(data) });
}

/** Send the server something without waiting for an answer, also while the page is being left.
 * @param {string} path @param {any} data */
export function send(path, data) {
  navigator.sendBeacon(
    address(path),
    new Blob([JSON.stringify(data)], { type: "application/json" }),
  );
}

const help = () => attempt(async () => showHelp((await ask("/api/setup/badges")).badges));
$("help").addEventListener("click", help);
onKeys(() => ({ "?": help }));

// The links between the pages carry the token.
for (const link of document.querySelectorAll("nav a")) {
  const page = /** @type {HTMLAnchorElement} */ (link);
  if (page.pathname === location.pathname) page.setAttribute("aria-current", "page");
  page.href = address(page.pathname);
}
if (!token) notice(NO_TOKEN);

/** Open a file that is chosen, or dropped onto a page: a log, what a bot was sent, a position. @param {File} file */
async function openFile(file) {
  const { match } = await tell("/api/match/open", { text: await file.text(), name: file.name });
  location.href = address(`/match/${match}`);
}

$("open-file").addEventListener("change", (event) => {
  const file = /** @type {HTMLInputElement} */ (event.target).files?.[0];
  if (file) attempt(() => openFile(file));
});
document.addEventListener("dragover", (event) => {
  event.preventDefault();
  document.body.classList.add("dropping");
});
document.addEventListener("dragleave", () => document.body.classList.remove("dropping"));
document.addEventListener("drop", (event) => {
  const file = event.dataTransfer?.files[0];
  event.preventDefault();
  document.body.classList.remove("dropping");
  if (file) attempt(() => openFile(file));
});
