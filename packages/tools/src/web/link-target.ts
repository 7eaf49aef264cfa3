const MAX_TARGET = 4096;
const ESCAPE = /^\\[!-/:-@[-`{-~]$/;

/** The target of a Markdown link, and the index after it. */
export interface LinkTarget {
  readonly url: string;
  readonly end: number;
}

/** Parses the text after `](`: `url)` or `<url>)`, either with a title. Undefined for an invalid target. */
export function readLinkTarget(markdown: string, start: number): LinkTarget | undefined {
  const text = markdown.slice(start, start + MAX_TARGET);
  const isAngled = text.startsWith("<");
  let url = "";
  let depth = 0;
  let at = isAngled ? 1 : 0;
  for (; at < text.length; at++) {
    const character = text.charAt(at);
    if (ESCAPE.test(text.slice(at, at + 2))) {
      at += 1;
      url += text.charAt(at);
      continue;
    }
    if (character === "\n") return undefined;
    if (isAngled ? character === ">" : character === " " || (character === ")" && depth === 0)) break;
    if (character === "(") depth += 1;
    if (character === ")") depth -= 1;
    url += character;
  }
  const closing = /^ *(?:"[^"]*"|'[^']*')? *\)/.exec(text.slice(isAngled ? at + 1 : at));
  return closing === null ? undefined : { url, end: start + (isAngled ? at + 1 : at) + closing[0].length };
}
