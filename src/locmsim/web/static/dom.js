// @ts-check
// Creates elements from texts, which are never parsed as markup. Part of every page and of a
// replay's file.

const SVG = "http://www.w3.org/2000/svg";

/** The element of an id. @param {string} id */
export const $ = (id) => /** @type {HTMLElement} */ (document.getElementById(id));

/** Create an element; markup in its text stays text. @param {string} kind its tag, id and classes, as
 * in `div#deck.panel.small` @param {...(Record<string, any>|Node|string|number)} parts its properties,
 * if it has others, and what is in it @returns {HTMLElement} */
export function element(kind, ...parts) {
  const [tag, ...classes] = kind.split(".");
  const [name, id] = tag.split("#");
  const made = document.createElement(name);
  if (id) made.id = id;
  if (classes.length) made.className = classes.join(" ");
  for (const part of parts)
    if (part instanceof Node) made.append(part);
    else if (typeof part !== "object") made.append(String(part));
    else setAll(made, part);
  return made;
}

/** @param {HTMLElement} made @param {Record<string, any>} properties */
function setAll(made, properties) {
  for (const [name, value] of Object.entries(properties)) {
    if (name === "text") made.textContent = String(value);
    else if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
    else if (typeof value === "boolean" && !name.startsWith("aria-"))
      made.toggleAttribute(name, value);
    else if (value !== undefined && value !== null) made.setAttribute(name, String(value));
  }
}

/** Create a button. @param {string} kind its id and classes @param {Node|string} content
 * @param {() => void} onclick @param {Record<string, any>} [more] */
export const button = (kind, content, onclick, more = {}) =>
  element(`button${kind}`, { type: "button", onclick, ...more }, content);

/** A part of a page with a heading. @param {string} title @param {...(Node|string)} parts */
export const panel = (title, ...parts) =>
  element("section.panel", { "aria-label": title }, element("h2", title), ...parts);

/** The name of a player in their colour. @param {readonly string[]} names @param {number} player */
export const nameOf = (names, player) => element("bdi", { class: `p${player}` }, names[player]);

/** Who plays whom. @param {readonly string[]} names @returns {(Node|string)[]} */
export const against = (names) => [nameOf(names, 0), " against ", nameOf(names, 1)];

/** Create a part of an SVG picture; markup in its text stays text. @param {string} tag
 * @param {Record<string, string|number>} attributes @param {string} [text] */
export function shape(tag, attributes, text) {
  const made = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) made.setAttribute(name, String(value));
  if (text !== undefined) made.textContent = text;
  return made;
}

/** Create an icon of one path. @param {string} path in a square of 20 units
 * @param {string} [name] its class */
export function icon(path, name = "icon") {
  const svg = shape("svg", { viewBox: "0 0 20 20", "aria-hidden": "true", class: name });
  svg.append(shape("path", { d: path }));
  return svg;
}

/** The elements of options. @param {readonly (readonly [string|number, string])[]} options */
export const optionsOf = (options) =>
  options.map(([value, text]) => element("option", { value }, text));

/** Create a label with what it is for. @param {string} text @param {Node} field */
export const labelled = (text, field) => element("label.field", element("span", text), " ", field);

/** Create a labelled choice of one option. @param {string} id @param {string} label
 * @param {readonly (readonly [string, string])[]} options @param {string} [chosen]
 * @param {() => void} [onchange] what a choice does */
export function select(id, label, options, chosen, onchange = () => {}) {
  const box = /** @type {HTMLSelectElement} */ (element("select", { id, onchange }));
  box.append(...optionsOf(options));
  if (chosen !== undefined) box.value = chosen;
  return labelled(label, box);
}

/** Options that are called what they are. @param {readonly string[]} texts
 * @returns {[string, string][]} */
export const named = (texts) => texts.map((text) => [text, text]);

/** Put other options into a choice, without losing what was chosen.
 * @param {string} id @param {readonly (readonly [string, string])[]} options
 * @param {string} [first] what is chosen, if it is there, where nothing was before */
export function refill(id, options, first) {
  const box = /** @type {HTMLSelectElement} */ ($(id));
  const before = [...box.options].map(({ value, text }) => [value, text]);
  if (JSON.stringify(before) === JSON.stringify(options)) return; // somebody may be choosing
  const wanted = before.length ? box.value : first;
  box.replaceChildren(...optionsOf(options));
  const there = options.some(([value]) => value === wanted);
  box.value = (there && wanted) || (options[0]?.[0] ?? "");
}

/** Keep something in the browser, if it can. @param {"localStorage"|"sessionStorage"} store
 * @param {string} place @param {unknown} value */
export function keep(store, place, value) {
  try {
    window[store].setItem(place, JSON.stringify(value));
  } catch {
    // It lasts as long as the page.
  }
}

/** What was kept; null if there is nothing. @param {"localStorage"|"sessionStorage"} store
 * @param {string} place @returns {any} */
export function kept(store, place) {
  try {
    return JSON.parse(window[store].getItem(place) ?? "null");
  } catch {
    return null; // the browser keeps nothing, or something else wrote there
  }
}

/** Put other parts into a box. What has the focus or is open stays so, by its `data-place`.
 * @param {HTMLElement} box @param {...(Node|string)} parts */
export function renew(box, ...parts) {
  const all = () => /** @type {HTMLElement[]} */ ([...box.querySelectorAll("[data-place]")]);
  const focused = all().find((one) => one === document.activeElement)?.dataset.place;
  const open = all()
    .filter((one) => one.matches("[open]"))
    .map((one) => one.dataset.place);
  box.replaceChildren(...parts);
  for (const one of all()) {
    if (open.includes(one.dataset.place)) one.toggleAttribute("open", true);
    if (one.dataset.place === focused) one.focus({ preventScroll: true });
  }
}

/** The value of a field. @param {string} id */
export const valueOf = (id) => /** @type {HTMLInputElement|HTMLSelectElement} */ ($(id)).value;

/** Set the value of a field. @param {string} id @param {string|number} value */
export function setValue(id, value) {
  const field = /** @type {HTMLInputElement|HTMLSelectElement} */ ($(id));
  field.value = String(value);
}

/** Wait. @param {number} ms milliseconds */
export const pause = (ms) => new Promise((resolve) => setTimeout(resolve, ms));

/** Let the next click do nothing. Returns what ends that. */
export function swallowClick() {
  const stop = (/** @type {Event} */ event) => {
    event.preventDefault();
    event.stopPropagation();
  };
  addEventListener("click", stop, { capture: true, once: true });
  return () => removeEventListener("click", stop, true);
}

/** What went wrong, as text. @param {unknown} error */
export const textOf = (error) => (error instanceof Error ? error.message : String(error));

/** Show a message above the page, or hide the last one. @param {string} [text] */
export function notice(text = "") {
  $("notice").textContent = text;
  $("notice").hidden = !text;
}

/** Run something and show its error, if there is one; return whether there was none.
 * @param {() => Promise<void>} work */
export async function attempt(work) {
  try {
    await work();
    return true;
  } catch (error) {
    notice(textOf(error));
    return false;
  }
}

/** Whether a key belongs to the tabs or the text that scrolls which has the focus.
 * @param {HTMLElement} target @param {string} key */
function ofPlace(target, key) {
  if (target.closest("[role=tablist]")) return /^Arrow(Left|Right)/.test(key);
  const { scrollHeight, clientHeight, tabIndex } = target;
  const scrolls = tabIndex === 0 && scrollHeight > clientHeight + 1;
  return scrolls && !target.closest("button") && /^(ArrowUp|ArrowDown|Home|End|Page)/.test(key);
}

/** Do what keys are for, unless they are for a field, a dialog or the browser.
 * @param {() => Record<string, () => void>} keys those that do something now */
export function onKeys(keys) {
  document.addEventListener("keydown", (event) => {
    const { tagName } = /** @type {HTMLElement} */ (event.target);
    if (
      event.ctrlKey ||
      event.altKey ||
      event.metaKey ||
      ["INPUT", "SELECT", "TEXTAREA"].includes(tagName) ||
      (event.key === " " && ["BUTTON", "SUMMARY", "A"].includes(tagName)) ||
      document.querySelector("dialog[open]")
    )
      return;
    if (ofPlace(/** @type {HTMLElement} */ (event.target), event.key)) return;
    const act = keys()[event.key];
    if (!act) return;
    event.preventDefault();
    act();
  });
}

export const percent = (/** @type {number} */ chance) => `${Math.round(100 * chance)} %`;
/** A search value, which is no chance, as text. @param {number} value */
export const searchValue = (value) => minus(`${value < 0 ? "" : "+"}${value.toFixed(2)}`);
/** A number with separators. @param {number} value */
export const number = (value) => value.toLocaleString("en");
/** A number of things. @param {number} count @param {string} what one of them */
export const counted = (count, what, many = `${what}s`) =>
  `${number(count)} ${count === 1 ? what : many}`;
/** A text with a minus sign in place of a hyphen. @param {string|number} value */
export const minus = (value) => String(value).replace("-", "\u2212");
/** A change, with its sign. @param {number} value */
export const signed = (value) => (value > 0 ? `+${value}` : minus(value));
/** A name where there can be no element around it: what is written from right to left in it does
 * not turn the words beside it. @param {string} name */
export const isolated = (name) => `\u2068${name}\u2069`;
