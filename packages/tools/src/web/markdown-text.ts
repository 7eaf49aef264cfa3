import { readLinkTarget } from "./link-target.ts";

/** A link of a page, with its text. */
export type PageLink = { text: string; url: string };

/** The plain text of a Markdown page, and its links. */
export interface MarkdownText {
  readonly text: string;
  readonly links: PageLink[];
}

const MAX_LINKS = 500;
const MAX_LINK_TEXT = 300;
const MAX_NESTING = 100;
/** A page with more brackets that only look like links is probably an attack on the parser's time. */
const MAX_FALSE_LINKS = 1000;
const FENCE = /^ {0,3}(?:`{3,}|~{3,}).*$/m;
const SPECIAL = /\\[!-/:-@[-`{-~]|!?\[|\]/g;

/**
 * Removes Markdown syntax: links and images become their text, headings and emphasis lose their markers, code stays
 * unchanged.
 *
 * SECURITY: the time is proportional to the length of the text, whatever it contains.
 */
export function markdownText(markdown: string): MarkdownText {
  const links = new Map<string, PageLink>();
  const parts = markdown.split(FENCE);
  const text = parts.map((part, index) => (index % 2 === 1 ? part : withoutSigns(withoutLinks(part, links)))).join("");
  return { text, links: [...links.values()] };
}

interface OpenBracket {
  /** Index in the list of pieces. */
  readonly index: number;
  readonly sign: string;
}

function withoutLinks(markdown: string, links: Map<string, PageLink>): string {
  const pieces: string[] = [];
  const open: OpenBracket[] = [];
  let falseLinks = 0;
  let at = 0;
  SPECIAL.lastIndex = 0;
  for (let found = SPECIAL.exec(markdown); found !== null; found = SPECIAL.exec(markdown)) {
    const [sign] = found;
    pieces.push(markdown.slice(at, found.index));
    at = SPECIAL.lastIndex;
    if (sign.startsWith("\\")) pieces.push(sign.slice(1));
    else if (sign !== "]") {
      if (open.length < MAX_NESTING) open.push({ index: pieces.length, sign });
      pieces.push(sign);
    } else {
      const bracket = open.pop();
      const mayLink = bracket !== undefined && markdown.charAt(at) === "(" && falseLinks < MAX_FALSE_LINKS;
      const target = mayLink ? readLinkTarget(markdown, at + 1) : undefined;
      if (bracket === undefined || target === undefined) {
        if (mayLink) falseLinks += 1;
        pieces.push(sign);
        continue;
      }
      pieces[bracket.index] = "";
      if (bracket.sign === "[") noteLink(links, pieces, bracket.index, target.url);
      at = target.end;
      SPECIAL.lastIndex = at;
    }
  }
  pieces.push(markdown.slice(at));
  return pieces.join("");
}

function noteLink(links: Map<string, PageLink>, pieces: readonly string[], start: number, target: string): void {
  if (links.size >= MAX_LINKS) return;
  const url = URL.parse(target);
  if (url === null || (url.protocol !== "http:" && url.protocol !== "https:") || links.has(url.href)) return;
  let text = "";
  for (let index = start; index < pieces.length && text.length < MAX_LINK_TEXT; index++) text += pieces[index] ?? "";
  const shown = withoutSigns(text.slice(0, MAX_LINK_TEXT).replaceAll(/\s+/g, " ").trim());
  links.set(url.href, { text: shown.toWellFormed(), url: url.href });
}

/** Removes the markers of headings, emphasis and rules. Those inside a word stay. */
function withoutSigns(text: string): string {
  return text
    .replaceAll(/^#{1,6} /gm, "")
    .replaceAll(/^(?:[-*_] ?){3,}$/gm, "")
    .replaceAll(/(?<!\w)(?:\*\*|__|\*|_)(?=\S)|(?<=\S)(?:\*\*|__|\*|_)(?!\w)/g, "");
}
