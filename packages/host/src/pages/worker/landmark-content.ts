import type { PageDocument, PageElement } from "./dom.ts";

/** Elements around the content of a page, recognized by tag and role. */
const AROUND =
  "nav, aside, footer, [role=navigation], [role=banner], [role=contentinfo], [role=complementary], [role=search], body > header, body > * > header";
const CONTENT = "main, [role=main], article";
const MIN_SHARE = 0.3;

/** Finds the main content by the page's landmark elements. Used for pages that are too large for scoring. */
export function landmarkContent(document: PageDocument): PageElement {
  const { body } = document;
  const whole = lengthOf(body);
  const [best] = [...document.querySelectorAll(CONTENT)]
    .slice(0, MAX_CANDIDATES)
    .map((element) => ({ element, length: lengthOf(element) }))
    .toSorted((left, right) => right.length - left.length);
  const found = best !== undefined && best.length >= MIN_SHARE * whole ? best.element : body;
  for (const element of found.querySelectorAll(AROUND)) element.remove();
  return found;
}

const MAX_CANDIDATES = 20;

function lengthOf(element: PageElement): number {
  return element.textContent?.length ?? 0;
}
