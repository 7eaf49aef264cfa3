import { isElement, isText, type PageElement, type PageNode } from "./dom.ts";
import { escapeText } from "./escape-text.ts";
import { inlineCode } from "./write-code.ts";

/** Base for relative links of a page. */
export interface LinkBase {
  readonly url: string;
}

/** Elements nested deeper than this are written as plain text. */
export const MAX_DEPTH = 300;

/** Elements that are never written: scripts, styles, form controls, media, and content shown only without scripts. */
export const LEFT_OUT = new Set(
  "script style template noscript head title meta link base svg canvas object embed audio video iframe frame frameset map source track input select textarea button datalist option".split(
    " ",
  ),
);

const MARKS: ReadonlyMap<string, string> = new Map([
  ["strong", "**"],
  ["b", "**"],
  ["em", "*"],
  ["i", "*"],
  ["del", "~~"],
  ["s", "~~"],
  ["strike", "~~"],
]);

export function writeInline(node: PageNode, base: LinkBase, depth: number): string {
  if (isText(node)) return escapeText(node.textContent ?? "");
  if (!isElement(node) || LEFT_OUT.has(node.localName)) return "";
  if (depth > MAX_DEPTH) return escapeText(node.textContent ?? "");
  switch (node.localName) {
    case "br":
      return "  \n";
    case "img":
      return image(node, base);
    case "a":
      return link(node, inlineOf(node, base, depth), base);
    case "code":
    case "kbd":
    case "samp":
    case "tt":
      return inlineCode(node);
    case "math":
      return formula(node);
    default:
      return withMarks(inlineOf(node, base, depth), MARKS.get(node.localName));
  }
}

export function inlineOf(element: PageElement, base: LinkBase, depth: number): string {
  const parts: string[] = [];
  for (const child of element.childNodes) parts.push(writeInline(child, base, depth + 1));
  return parts.join("");
}

/** Keeps surrounding white space outside the marks: inside, Markdown would not recognize them. */
function withMarks(text: string, mark: string | undefined): string {
  const inner = text.trim();
  if (mark === undefined || inner === "" || inner.includes("\n\n")) return text;
  const start = text.length - text.trimStart().length;
  const end = text.trimEnd().length;
  return `${text.slice(0, start)}${mark}${inner}${mark}${text.slice(end)}`;
}

function link(element: PageElement, text: string, base: LinkBase): string {
  const inner = text.trim();
  const url = resolveUrl(element.getAttribute("href"), base);
  if (inner === "" || url === undefined) return text;
  const start = text.length - text.trimStart().length;
  const end = text.trimEnd().length;
  return `${text.slice(0, start)}[${inner.replaceAll(/\s*\n\s*/g, " ")}](${url})${text.slice(end)}`;
}

function image(element: PageElement, base: LinkBase): string {
  const text = escapeText(element.getAttribute("alt") ?? "").trim();
  const url = resolveUrl(element.getAttribute("src"), base);
  return url === undefined ? text : `![${text}](${url})`;
}

/** SECURITY: only schemes of addresses that a request can be sent to; no scripts and no data URLs. */
const SCHEMES = new Set(["http:", "https:", "mailto:", "tel:", "ftp:"]);
const MAX_URL_LENGTH = 4096;

function resolveUrl(reference: string | null, base: LinkBase): string | undefined {
  if (reference === null || reference.length > MAX_URL_LENGTH) return undefined;
  const url = URL.parse(reference.trim(), base.url);
  if (url === null || !SCHEMES.has(url.protocol)) return undefined;
  return url.href.replaceAll("(", "%28").replaceAll(")", "%29");
}

function formula(element: PageElement): string {
  const stated = element.getAttribute("data-latex") ?? element.getAttribute("alttext");
  const text = stated ?? element.querySelector("annotation")?.textContent ?? element.textContent ?? "";
  const inner = text.replaceAll(/\s+/g, " ").trim();
  return inner === "" ? "" : `$${inner}$`;
}
