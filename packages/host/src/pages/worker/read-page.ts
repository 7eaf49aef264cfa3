import { contentKind } from "./content-kind.ts";
import { decodePage } from "./decode-page.ts";
import { measure, type PageDocument, parseDocument } from "./dom.ts";
import { dropHidden } from "./drop-hidden.ts";
import { MAX_TEXT_BYTES, MAX_TITLE_LENGTH, type PageFault, type PageFormat, type PageRequest } from "./messages.ts";
import { landmarkContent } from "./landmark-content.ts";
import { scoredContent } from "./scored-content.ts";
import type { LinkBase } from "./write-inline.ts";
import { writeMarkdown } from "./write-markdown.ts";

export type ReadPage =
  | { readonly fault: PageFault }
  | {
      readonly format: PageFormat;
      readonly text: Buffer;
      readonly title: string | undefined;
      readonly charset: string;
    };

/** Up to this size the library scores a page in well under a second; its time grows with the number of elements. */
const MAX_SCORED_ELEMENTS = 3000;
const MAX_SCORED_DEPTH = 200;

/** Extracts the text of a page. */
export function readPage({ url, contentType, extent }: PageRequest, bytes: Uint8Array): ReadPage {
  const kind = contentKind(contentType, bytes);
  if (kind === undefined) return { fault: "not-text" };
  const { text, charset } = decodePage(bytes, contentType, kind);
  if (kind !== "html") return bounded({ format: kind === "json" ? "json" : "text", text, title: undefined, charset });
  try {
    return bounded({ format: "markdown", ...readHtml(text, url, extent), charset });
  } catch (fault) {
    return { fault: fault instanceof RangeError ? "depth" : "fault" };
  }
}

function bounded(page: { format: PageFormat; text: string; title: string | undefined; charset: string }): ReadPage {
  const text = Buffer.from(page.text);
  return text.length > MAX_TEXT_BYTES ? { fault: "length" } : { ...page, text };
}

function readHtml(html: string, url: string, extent: "main" | "whole"): { text: string; title: string | undefined } {
  const document = openPage(html);
  const base = baseOf(document, url);
  const title = titleOf(document);
  if (extent === "whole") return { text: writeMarkdown(document.body, base), title };
  if (!isScorable(document)) return { text: writeMarkdown(landmarkContent(document), base), title };
  const weighed = scoreContent(document, base);
  if (weighed !== undefined) return { text: weighed.text, title: title ?? cut(weighed.title) };
  // Parse again: the library has modified the document.
  return { text: writeMarkdown(landmarkContent(openPage(html)), base), title };
}

function openPage(html: string): PageDocument {
  const document = parseDocument(html);
  dropHidden(document);
  return document;
}

function isScorable({ body }: PageDocument): boolean {
  const { elements, depth } = measure(body);
  return elements <= MAX_SCORED_ELEMENTS && depth <= MAX_SCORED_DEPTH;
}

/** Returns undefined if the library fails or finds nothing. */
function scoreContent(document: PageDocument, base: LinkBase): { text: string; title: string } | undefined {
  try {
    const { content, title } = scoredContent(document, base.url);
    const text = writeMarkdown(content, base);
    return text.trim() === "" ? undefined : { text, title };
  } catch {
    return undefined;
  }
}

function baseOf(document: PageDocument, url: string): LinkBase {
  const stated = document.querySelector("base[href]")?.getAttribute("href") ?? "";
  return { url: URL.parse(stated, url)?.href ?? url };
}

function titleOf(document: PageDocument): string | undefined {
  return cut(document.querySelector("title")?.textContent ?? "");
}

function cut(title: string): string | undefined {
  const clean = title.replaceAll(/\s+/g, " ").trim();
  return clean === "" ? undefined : clean.slice(0, MAX_TITLE_LENGTH).toWellFormed();
}
