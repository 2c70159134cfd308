// @ts-check
// The text of a card: under the mouse, under a finger, or focused. On a touch a card that does
// nothing shows it at once, the others after a while.

import { element, swallowClick } from "./dom.js";

/** Milliseconds for which the mouse rests on a card, and a finger stays on it. */
const REST_MS = 350;
const HOLD_MS = 450;
const MARGIN = 8;

const box = element("div#card-text", { hidden: true, "aria-hidden": "true" });
/** @type {number|undefined} */
let timer;
/** The card that is told about. @type {HTMLElement|null} */
let told = null;

/** The card that an event is about, if it has a text. @param {Event} event */
const cardOf = (event) =>
  /** @type {HTMLElement|null} */ (
    /** @type {Element} */ (event.target).closest?.("[data-about], :has(> [data-about]):is(button)")
  );

/** @param {HTMLElement} place @param {boolean} large */
function tell(place, large) {
  const card = place.matches("[data-about]")
    ? place
    : /** @type {HTMLElement} */ (place.querySelector("[data-about]"));
  const [name, ...lines] = (card.dataset.about ?? "").split("\n");
  told = place;
  const picture = large ? [/** @type {Node} */ (card.querySelector("svg")).cloneNode(true)] : [];
  box.replaceChildren(
    ...picture,
    element("p", element("b", element("bdi", name))),
    ...lines.map((text) => element("p", text)),
  );
  box.classList.toggle("large", large);
  if (!box.isConnected) document.body.append(box);
  box.hidden = false;
  const around = card.getBoundingClientRect();
  const { width, height } = box.getBoundingClientRect();
  // Beside a hand, not on it.
  const hand = card.closest(".hand")?.getBoundingClientRect();
  const right = hand ? around.left : around.right + MARGIN;
  const left = hand || right + width < innerWidth ? right : around.left - MARGIN - width;
  let { top } = around;
  if (hand) top = hand.top - MARGIN - height;
  if (hand && top < 0) top = hand.bottom + MARGIN;
  box.style.left = `${Math.max(MARGIN, Math.min(left, innerWidth - width - MARGIN))}px`;
  box.style.top = `${Math.max(MARGIN, Math.min(top, innerHeight - height - MARGIN))}px`;
}

function hide() {
  clearTimeout(timer);
  timer = undefined;
  told = null;
  box.hidden = true;
}

/** @param {HTMLElement} card @param {number} after @param {boolean} large */
function soon(card, after, large) {
  clearTimeout(timer);
  timer = setTimeout(() => card.isConnected && tell(card, large), after);
}

document.addEventListener("pointerover", (event) => {
  const card = cardOf(event);
  if (event.pointerType !== "mouse" || card === told) return;
  hide();
  if (card) soon(card, REST_MS, false);
});
document.addEventListener("pointerdown", (event) => {
  const card = cardOf(event);
  hide();
  if (card && event.pointerType === "touch") soon(card, HOLD_MS, true);
});
document.addEventListener("pointerup", (event) => {
  if (event.pointerType !== "touch") return;
  const card = cardOf(event);
  // The click that ends a long touch does nothing else.
  if (told) {
    setTimeout(swallowClick(), 600);
    return;
  }
  hide();
  if (card && !card.matches("button, [role=button]")) tell(card, true);
});
for (const name of ["pointercancel", "scroll"])
  document.addEventListener(name, hide, { capture: true, passive: true });
document.addEventListener("contextmenu", (event) => {
  if (told || (timer !== undefined && cardOf(event))) event.preventDefault();
});
document.addEventListener("focusin", (event) => {
  const card = cardOf(event);
  if (!card?.matches(":focus-visible")) return;
  soon(card, REST_MS, false);
});
document.addEventListener("focusout", hide);
document.addEventListener("keydown", (event) => {
  if (event.key === "Escape") hide();
});
