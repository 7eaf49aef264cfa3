import { isElement, type PageElement } from "./dom.ts";
import { escapeStart } from "./escape-text.ts";
import { codeBlock } from "./write-code.ts";
import { inlineOf, LEFT_OUT, type LinkBase, MAX_DEPTH, writeInline } from "./write-inline.ts";
import { writeTable } from "./write-table.ts";

/**
 * Lists and quotes are indented line by line. Deeper levels are not indented further, or the text would grow with its
 * depth.
 */
const MAX_NESTING = 12;

const BLOCKS = new Set(
  "address article aside blockquote body caption center dd details dir div dl dt fieldset figcaption figure footer form h1 h2 h3 h4 h5 h6 header hgroup hr html legend li main menu nav ol p pre search section summary table tbody td tfoot th thead tr ul".split(
    " ",
  ),
);

interface WriteContext {
  readonly base: LinkBase;
  readonly depth: number;
  readonly nesting: number;
}

/** Writes the content of an element as Markdown with absolute links, in time and space linear in its size. */
export function writeMarkdown(element: PageElement, base: LinkBase): string {
  return `${writeBlocks(element, { base, depth: 0, nesting: 0 }).join("\n\n")}\n`;
}

function writeBlocks(element: PageElement, place: WriteContext): string[] {
  const blocks: string[] = [];
  let line: string[] = [];
  const endLine = (): void => {
    const text = paragraph(line.join(""));
    if (text !== "") blocks.push(text);
    line = [];
  };
  for (const child of element.childNodes) {
    if (!isElement(child) || !holdsBlocks(child, place.depth)) {
      line.push(writeInline(child, place.base, place.depth + 1));
      continue;
    }
    endLine();
    blocks.push(...writeBlock(child, { ...place, depth: place.depth + 1 }).filter((block) => block !== ""));
  }
  endLine();
  return blocks;
}

/**
 * Whether an element is written as blocks. An inline element such as a span is when it directly contains blocks; a link
 * is not.
 */
function holdsBlocks(element: PageElement, depth: number): boolean {
  if (BLOCKS.has(element.localName)) return true;
  if (depth > MAX_DEPTH || LEFT_OUT.has(element.localName)) return false;
  for (const child of element.children) if (BLOCKS.has(child.localName)) return element.localName !== "a";
  return false;
}

function writeBlock(element: PageElement, place: WriteContext): string[] {
  const { base, depth } = place;
  if (depth > MAX_DEPTH) return [paragraph(inlineOf(element, base, depth))];
  switch (element.localName) {
    case "h1":
    case "h2":
    case "h3":
    case "h4":
    case "h5":
    case "h6":
      return [heading(element, place)];
    case "hr":
      return ["---"];
    case "pre":
      return [codeBlock(element)];
    case "blockquote":
      return [indented(writeBlocks(element, deeper(place)), "> ", "> ", place)];
    case "ul":
    case "ol":
    case "menu":
    case "dir":
      return [list(element, place)];
    case "dt":
      return [bold(paragraph(inlineOf(element, base, depth)))];
    case "table": {
      const table = writeTable(element, base, depth);
      return table === undefined ? writeBlocks(element, place) : [table];
    }
    default:
      return writeBlocks(element, place);
  }
}

function heading(element: PageElement, { base, depth }: WriteContext): string {
  const text = inlineOf(element, base, depth).replaceAll(/\s+/g, " ").trim();
  return text === "" ? "" : `${"#".repeat(Number(element.localName.slice(1)))} ${text}`;
}

function list(element: PageElement, place: WriteContext): string {
  const start = Number.parseInt(element.getAttribute("start") ?? "1", 10);
  let number = Number.isSafeInteger(start) ? start : 1;
  const items: string[] = [];
  for (const child of element.children) {
    if (LEFT_OUT.has(child.localName)) continue;
    const mark = element.localName === "ol" ? `${number++}. ` : "- ";
    const inner = { ...deeper(place), depth: place.depth + 1 };
    // A list directly inside a list belongs to the preceding item.
    const isNested = child.localName === "ul" || child.localName === "ol";
    const blocks = isNested ? writeBlock(child, inner) : writeBlocks(child, inner);
    const item = indented(blocks, isNested ? "  " : mark, " ".repeat(mark.length), place);
    if (item !== "") items.push(item);
  }
  return items.join("\n");
}

function deeper(place: WriteContext): WriteContext {
  return { ...place, nesting: place.nesting + 1 };
}

/** Joins and indents blocks. A list item that follows the first line directly is joined without an empty line. */
function indented(blocks: readonly string[], first: string, others: string, { nesting }: WriteContext): string {
  const text = blocks.filter((block) => block !== "").reduce((before, block) => joined(before, block), "");
  if (text === "" || nesting >= MAX_NESTING) return text;
  const lines = text.split("\n").map((line) => (line === "" ? others.trimEnd() : others + line));
  return first + lines.join("\n").slice(others.length);
}

function joined(before: string, block: string): string {
  if (before === "") return block;
  return /^(?:- |\d+\. )/.test(block) ? `${before}\n${block}` : `${before}\n\n${block}`;
}

function bold(text: string): string {
  return text === "" ? "" : `**${text.replaceAll("**", "")}**`;
}

function paragraph(text: string): string {
  const lines = text.split("\n").map((line) => line.replaceAll(/ {2,}(?=\S)/g, " ").trimStart());
  return escapeStart(
    lines
      .join("\n")
      .trim()
      .replaceAll(/\n{3,}/g, "\n\n"),
  );
}
