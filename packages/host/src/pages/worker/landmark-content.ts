import type { PageDocument, PageElement } from "./dom.ts";

/** Around the content of a page, by what it is called. */
const AROUND =
  "nav, aside, footer, [role=navigation], [role=banner], [role=contentinfo], [role=complementary], [role=search], body > header, body > * > header";
const CONTENT = "main, [role=main], article";
const MIN_SHARE = 0.3;

/** The main content by what the page itself says of it: for pages that are too long to be weighed up part by part. */
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
