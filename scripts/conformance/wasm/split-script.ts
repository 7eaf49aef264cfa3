/** A top-level form of a script: a module, an assertion, an action. */
export interface Form {
  readonly start: number;
  readonly end: number;
  readonly firstLine: number;
  readonly lastLine: number;
  /** Its first word. */
  readonly head: string;
}

/** Finds the top-level forms of a script, by parentheses, strings and comments alone. */
export function splitScript(text: string): Form[] {
  const forms: Form[] = [];
  let depth = 0;
  let start = 0;
  let firstLine = 1;
  let line = 1;
  for (const { index, 0: token } of text.matchAll(TOKENS)) {
    if (token === "(") {
      if (depth === 0) [start, firstLine] = [index, line];
      depth++;
    } else if (token === ")" && depth > 0) {
      depth--;
      const end = index + 1;
      if (depth === 0) forms.push({ start, end, firstLine, lastLine: line, head: headOf(text, start) });
    } else if (token === "(;") {
      // Block comments nest, which a regular expression cannot match; they were removed before.
      throw new Error("a comment was left");
    }
    line += token.split("\n").length - 1;
  }
  return forms;
}

const TOKENS = /"(?:[^"\\]|\\.)*"|;;[^\n\r]*|\(;|\(|\)|\n/gs;

function headOf(text: string, start: number): string {
  return /^\(\s*([a-z_]+)/.exec(text.slice(start, start + 60))?.[1] ?? "";
}

/** Replaces comments by spaces, so that lines and columns stay the same. */
export function blankComments(text: string): string {
  let depth = 0;
  let from = 0;
  let result = "";
  for (const { index, 0: token } of text.matchAll(/"(?:[^"\\]|\\.)*"|;;[^\n\r]*|\(;|;\)/gs)) {
    if (token === "(;") {
      if (depth === 0) {
        result += text.slice(from, index);
        from = index;
      }
      depth++;
    } else if (token === ";)" && depth > 0) {
      depth--;
      if (depth > 0) continue;
      result += blank(text.slice(from, index + 2));
      from = index + 2;
    } else if (depth === 0 && token.startsWith(";;")) {
      result += text.slice(from, index) + blank(token);
      from = index + token.length;
    }
  }
  return result + (depth > 0 ? blank(text.slice(from)) : text.slice(from));
}

/** The same number of lines and characters, all of them spaces. */
export function blank(text: string): string {
  return text.replaceAll(/[^\n\r]/g, " ");
}
