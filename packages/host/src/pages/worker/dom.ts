import { parseHTML } from "linkedom/worker";

/** The part of the DOM that is used here. */
export interface PageNode {
  readonly nodeType: number;
  readonly textContent: string | null;
  readonly parentNode: PageNode | null;
  readonly childNodes: Iterable<PageNode>;
}

export interface PageElement extends PageNode {
  readonly localName: string;
  readonly attributes: Iterable<{ readonly name: string; readonly value: string }>;
  readonly parentElement: PageElement | null;
  readonly children: Iterable<PageElement>;
  getAttribute(name: string): string | null;
  setAttribute(name: string, value: string): void;
  removeAttribute(name: string): void;
  querySelector(selector: string): PageElement | null;
  querySelectorAll(selector: string): Iterable<PageElement>;
  replaceWith(...nodes: readonly PageNode[]): void;
  remove(): void;
}

export interface PageDocument {
  readonly body: PageElement;
  querySelector(selector: string): PageElement | null;
  querySelectorAll(selector: string): Iterable<PageElement>;
}

/** Attributes that are read here. */
const READ = new Set(["href", "src", "alt", "style", "hidden", "class", "id", "role", "name", "content", "property"]);

/**
 * Parses a page. The page's own html, head and body tags are ignored: they cannot decide where these elements begin and
 * end.
 */
export function parseDocument(html: string): PageDocument {
  const inner = html.replaceAll(STRUCTURE, "").replaceAll("\0", "");
  const wrapped = `<!doctype html><html><head></head><body>${inner}</body></html>`;
  const { document } = parseHTML(wrapped) as unknown as { readonly document: PageDocument };
  for (const element of document.querySelectorAll("*")) lowerNames(element);
  return document;
}

const STRUCTURE = /<!doctype[^>]{0,2000}>|<\/?(?:html|head|body)(?:[\s/][^>]{0,2000})?>/gi;

/** Lowercases attribute names, which are case-insensitive in a browser. */
function lowerNames(element: PageElement): void {
  for (const { name, value } of element.attributes) {
    const lower = name.toLowerCase();
    if (lower === name || !READ.has(lower)) continue;
    element.removeAttribute(name);
    if (element.getAttribute(lower) === null) element.setAttribute(lower, value);
  }
}

/** Counts the elements of a tree and its depth. */
export function measure(root: PageElement): { readonly elements: number; readonly depth: number } {
  let [elements, depth] = [0, 0];
  for (let level = [root]; level.length > 0; depth++) {
    elements += level.length;
    level = level.flatMap(({ children }) => [...children]);
  }
  return { elements, depth };
}

export function isElement(node: PageNode): node is PageElement {
  return node.nodeType === 1;
}

export function isText(node: PageNode): boolean {
  return node.nodeType === 3;
}
