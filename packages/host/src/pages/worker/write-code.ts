import { isElement, isText, type PageElement, type PageNode } from "./dom.ts";

/** Writes inline code. */
export function inlineCode(element: PageElement): string {
  const text = (element.textContent ?? "").replaceAll(/\s+/g, " ").trim();
  if (text === "") return "";
  const fence = "`".repeat(longestRun(text) + 1);
  const space = text.startsWith("`") || text.endsWith("`") ? " " : "";
  return `${fence}${space}${text}${space}${fence}`;
}

/** Writes a fenced code block with its text unchanged. */
export function codeBlock(element: PageElement): string {
  const text = verbatim(element).replaceAll(/\r\n?/g, "\n").replace(/^\n/, "").replace(/\s+$/, "");
  if (text.trim() === "") return "";
  const fence = "`".repeat(Math.max(3, longestRun(text) + 1));
  return `${fence}${languageOf(element)}\n${text}\n${fence}`;
}

function verbatim(element: PageElement): string {
  if (element.querySelector("br") === null) return element.textContent ?? "";
  const parts: string[] = [];
  // Reversed, so that nodes are popped in document order.
  const stack: PageNode[] = [...element.childNodes].toReversed();
  for (let node = stack.pop(); node !== undefined; node = stack.pop()) {
    if (isText(node)) parts.push(node.textContent ?? "");
    else if (isElement(node)) {
      if (node.localName === "br") parts.push("\n");
      else stack.push(...[...node.childNodes].toReversed());
    }
  }
  return parts.join("");
}

function languageOf(element: PageElement): string {
  const code = element.querySelector("code");
  for (const candidate of [code, element, element.parentElement]) {
    if (candidate === null) continue;
    const stated = candidate.getAttribute("data-lang") ?? candidate.getAttribute("data-language") ?? "";
    const classed = /(?:^|\s)(?:language|lang|highlight-source|highlight)-([\w+#-]+)/.exec(
      candidate.getAttribute("class") ?? "",
    )?.[1];
    const found = /^[\w+#-]{1,30}$/.exec(stated === "" ? (classed ?? "") : stated)?.[0];
    if (found !== undefined) return found;
  }
  return "";
}

function longestRun(text: string): number {
  return text.matchAll(/`+/g).reduce((longest, [run]) => Math.max(longest, run.length), 0);
}
