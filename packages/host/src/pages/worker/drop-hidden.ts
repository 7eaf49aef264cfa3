import type { PageDocument, PageElement } from "./dom.ts";

const HIDING_STYLE =
  /(?:^|;)\s*(?:display\s*:\s*none|visibility\s*:\s*(?:hidden|collapse)|opacity\s*:\s*0(?:\.0*)?\s*(?:!|;|$)|font-size\s*:\s*0(?:\.0*)?(?:px|r?em|%|pt)?\s*(?:!|;|$)|content-visibility\s*:\s*hidden)/i;

/** Not text for readers. Metadata for search engines stays: it may hold the only title. */
const PROGRAMS = 'script:not([type="application/ld+json"]), style, svg, canvas, object, embed';

/**
 * Removes everything that a human reader of the page would not see. SECURITY: hidden text is where instructions meant
 * only for a model are placed.
 */
export function dropHidden(document: PageDocument): void {
  placeStreamed(document);
  for (const element of document.querySelectorAll("[hidden], [style], dialog, input")) {
    if (isHidden(element)) element.remove();
  }
  for (const element of document.querySelectorAll(PROGRAMS)) element.remove();
}

function isHidden(element: PageElement): boolean {
  const hidden = element.getAttribute("hidden");
  if (hidden !== null && hidden.toLowerCase() !== "until-found") return true;
  if (element.localName === "input") return true;
  if (element.localName === "dialog") return element.getAttribute("open") === null;
  return HIDING_STYLE.test(element.getAttribute("style") ?? "");
}

/** Pages streamed in pieces hide each piece until their own script moves it to its place. This moves it there. */
function placeStreamed(document: PageDocument): void {
  const scripts = [...document.querySelectorAll("script")].map((script) => script.textContent ?? "").join("\n");
  for (const piece of document.querySelectorAll('[hidden][id^="S:"]')) {
    const number = /^S:([0-9a-f]{1,8})$/.exec(piece.getAttribute("id") ?? "")?.[1];
    if (number === undefined || !scripts.includes(`"B:${number}","S:${number}"`)) continue;
    const place = document.querySelector(`template[id="B:${number}"]`);
    if (place === null) continue;
    piece.removeAttribute("hidden");
    place.replaceWith(piece);
  }
}
