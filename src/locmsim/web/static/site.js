// @ts-check
// What all pages share: the token, requests, and elements whose text is text and nothing else.

const NO_TOKEN = "This address lacks the token: open the one that the terminal printed.";
const token = new URLSearchParams(location.search).get("token") ?? "";

/** An address of this server with the token. @param {string} path
 * @param {Record<string, string|number>} [query] */
export function address(path, query = {}) {
  const words = new URLSearchParams({ token });
  for (const [name, value] of Object.entries(query)) words.set(name, String(value));
  return `${path}?${words}`;
}

/** What the server says is wrong. */
export class Refused extends Error {
  /** @param {string} message @param {number} status @param {any} data */
  constructor(message, status, data) {
    super(message);
    this.status = status;
    this.data = data;
  }
}

/** @param {Response} response */
async function answered(response) {
  const data = await response.json().catch(() => ({}));
  if (!response.ok)
    throw new Refused(data.error ?? `the server said ${response.status}`, response.status, data);
  return data;
}

/** Ask the server. @param {string} path @param {Record<string, string|number>} [query] */
export async function ask(path, query) {
  if (!token) throw new Refused(NO_TOKEN, 403, {});
  return answered(await fetch(address(path, query)));
}

/** Tell the server to do something. @param {string} path @param {any} data */
export async function tell(path, data) {
  if (!token) throw new Refused(NO_TOKEN, 403, {});
  return answered(
    await fetch(address(path), {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify(data),
    }),
  );
}

/** The element of an id. @param {string} id */
export const $ = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** A new element; its text can hold no markup. @param {string} tag
 * @param {Record<string, any>} [properties] @param {...(Node|string)} children
 * @returns {HTMLElement} */
export function element(tag, properties = {}, ...children) {
  const made = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name === "text") made.textContent = String(value);
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (typeof value === "boolean") made.toggleAttribute(name, value);
    else if (value !== undefined && value !== null) made.setAttribute(name, String(value));
  }
  made.append(...children);
  return made;
}

/** A choice of one. @param {string} id @param {string} label
 * @param {readonly (readonly [string, string])[]} options @param {string} [chosen] */
export function select(id, label, options, chosen) {
  const box = /** @type {HTMLSelectElement} */ (element("select", { id }));
  for (const [value, text] of options) box.append(element("option", { value, text }));
  if (chosen !== undefined) box.value = chosen;
  return element("label", { class: "field" }, label, " ", box);
}

/** The value of a field. @param {string} id */
export const valueOf = (id) => /** @type {HTMLInputElement|HTMLSelectElement} */ ($(id)).value;

/** Tell the person something, or no longer anything. @param {string} [text] */
export function notice(text = "") {
  $("notice").textContent = text;
  $("notice").hidden = !text;
}

/** Run something and show what is wrong. @param {() => Promise<void>} work */
export async function shown(work) {
  try {
    await work();
  } catch (error) {
    notice(error instanceof Error ? error.message : String(error));
  }
}

// The links of the pages carry the token on.
for (const link of document.querySelectorAll("nav a")) {
  const page = /** @type {HTMLAnchorElement} */ (link);
  if (page.pathname === location.pathname) page.setAttribute("aria-current", "page");
  page.href = address(page.pathname);
}
if (!token) notice(NO_TOKEN);
