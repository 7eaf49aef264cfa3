import { type PolicyFile, policyFault } from "./policy-file.ts";

/** A piece of Cedar text. `value` is the word, the mark, or what a string stands for. */
export interface CedarToken {
  readonly kind: "word" | "text" | "mark" | "end";
  readonly value: string;
  readonly offset: number;
}

const SKIPPED = /(?:[ \t\r\n]+|\/\/[^\r\n]*)+/y;
const WORD = /[_a-zA-Z][_a-zA-Z0-9]*/y;
const MARK = /::|==|!=|<=|>=|&&|\|\||[@(),;:{}[\].<>=!+\-*?]|[0-9]+/y;
const PLAIN_TEXT = /[^"\\\r\n]+/y;
const UNICODE_ESCAPE = /\{([0-9a-fA-F]{1,6})\}/y;
const HEX_ESCAPE = /([0-7][0-9a-fA-F])/y;

/**
 * SECURITY: characters that make a reviewer see other text than the parser does (direction overrides, invisible
 * marks), and control characters, are refused wherever they stand, comments included.
 */
const DECEPTIVE = /[^\P{Cc}\t\r\n]|[\u061c\u200b-\u200f\u202a-\u202e\u2060-\u2069\ufeff]|\p{Cs}/u;

const SIMPLE_ESCAPES: ReadonlyMap<string, string> = new Map([
  ["n", "\n"],
  ["r", "\r"],
  ["t", "\t"],
  ["0", "\0"],
  ["\\", "\\"],
  ["'", "'"],
  ['"', '"'],
]);

/** Splits Cedar text into tokens, the last of which is the end. Throws POLICY_INVALID with the place. */
export function scanCedar(file: PolicyFile): CedarToken[] {
  const { text } = file;
  const deceptive = DECEPTIVE.exec(text);
  if (deceptive !== null) {
    const code = (deceptive[0].codePointAt(0) ?? 0).toString(16).padStart(4, "0").toUpperCase();
    throw policyFault(
      file,
      deceptive.index,
      `the character U+${code} is not allowed; write it as \\u{...} in a string`,
    );
  }
  const tokens: CedarToken[] = [];
  let offset = skip(text, 0);
  while (offset < text.length) {
    const token = scanToken(file, offset);
    tokens.push(token.token);
    offset = skip(text, token.end);
  }
  tokens.push({ kind: "end", value: "the end of the file", offset });
  return tokens;
}

function skip(text: string, offset: number): number {
  return offset + (matchAt(SKIPPED, text, offset)?.[0].length ?? 0);
}

function scanToken(file: PolicyFile, offset: number): { token: CedarToken; end: number } {
  const word = matchAt(WORD, file.text, offset)?.[0];
  if (word !== undefined) return { token: { kind: "word", value: word, offset }, end: offset + word.length };
  if (file.text[offset] === '"') return scanText(file, offset);
  const mark = matchAt(MARK, file.text, offset)?.[0];
  if (mark !== undefined) return { token: { kind: "mark", value: mark, offset }, end: offset + mark.length };
  throw policyFault(file, offset, "this character means nothing in a rule; use plain spaces and ASCII marks");
}

function scanText(file: PolicyFile, start: number): { token: CedarToken; end: number } {
  let value = "";
  let offset = start + 1;
  for (;;) {
    const plain = matchAt(PLAIN_TEXT, file.text, offset)?.[0] ?? "";
    value += plain;
    offset += plain.length;
    const character = file.text[offset];
    if (character === '"') return { token: { kind: "text", value, offset: start }, end: offset + 1 };
    if (character !== "\\") throw policyFault(file, start, 'this string does not end on its line; close it with `"`');
    const escape = scanEscape(file, offset);
    value += escape.value;
    offset = escape.end;
  }
}

function scanEscape(file: PolicyFile, offset: number): { value: string; end: number } {
  const letter = file.text[offset + 1] ?? "";
  const simple = SIMPLE_ESCAPES.get(letter);
  if (simple !== undefined) return { value: simple, end: offset + 2 };
  const pattern = letter === "x" ? HEX_ESCAPE : letter === "u" ? UNICODE_ESCAPE : undefined;
  const match = pattern === undefined ? null : matchAt(pattern, file.text, offset + 2);
  const code = Number.parseInt(match?.[1] ?? "", 16);
  const isScalar = code <= 0x10ffff && !(code >= 0xd800 && code <= 0xdfff);
  if (match === null || !isScalar) {
    const allowed = "\\n \\r \\t \\0 \\\\ \\' \\\" \\x00 to \\x7f and \\u{...} with a Unicode scalar value";
    throw policyFault(file, offset, `this is not an escape; allowed are ${allowed}`);
  }
  return { value: String.fromCodePoint(code), end: offset + 2 + match[0].length };
}

function matchAt(pattern: RegExp, text: string, offset: number): RegExpExecArray | null {
  pattern.lastIndex = offset;
  return pattern.exec(text);
}
