/** The value of a word if every shell reads it as its text without quotes; otherwise the reason why not. */
export type LiteralWord = { readonly value: string } | { readonly reason: string };

/** `pattern`: a pattern of `case`, where globs match a text instead of files. */
export type WordUse = "word" | "pattern";

const BACKSLASH = "\\";
/** Before one of these, or at the end, every shell reads a dollar sign literally. */
const HARMLESS_AFTER_DOLLAR = new Set(['"', " ", "\n", "|", ")", "/"]);
/** Before one of these, or at the end, an exclamation mark starts no history expansion. */
const HARMLESS_AFTER_EXCLAMATION = new Set(['"', " ", "\t", "\n", "=", "("]);

/**
 * Removes the quotes of one word, or returns why the word is not literal.
 * SECURITY: this parses the word's source again, independently of the parser. It accepts only what it knows; both
 * results have to agree, so a construct that some shells read differently passes neither.
 */
export function literalWord(text: string, use: WordUse = "word"): LiteralWord {
  // Shortcut with the same result for most words.
  if (/^[\w./:@%+,-]+$/.test(text)) return { value: text };
  let value = "";
  let at = 0;
  let bare = "";
  while (at < text.length) {
    const character = text.charAt(at);
    if (character === "'") {
      const end = text.indexOf("'", at + 1);
      if (end === -1) return { reason: "open quote" };
      value += text.slice(at + 1, end);
      bare += "q";
      at = end + 1;
    } else if (character === '"') {
      const quoted = readDoubleQuoted(text, at + 1);
      if ("reason" in quoted) return quoted;
      value += quoted.value;
      bare += "q";
      at = quoted.end;
    } else if (character === BACKSLASH) {
      const next = text.charAt(at + 1);
      if (next === "") return { reason: "backslash at the end" };
      if (next === "\n") return { reason: "line continuation inside a word" };
      value += next;
      bare += "q";
      at += 2;
    } else {
      const reason = findBareProblem(text, at, bare, use);
      if (reason !== undefined) return { reason };
      value += character;
      bare += character;
      at++;
    }
  }
  const reason = use === "word" ? findExpansion(bare) : undefined;
  return reason === undefined ? { value } : { reason };
}

/** The text up to the closing quote, and the index after it. */
function readDoubleQuoted(
  text: string,
  start: number,
): { readonly value: string; readonly end: number } | { readonly reason: string } {
  let value = "";
  for (let at = start; at < text.length; at++) {
    const character = text.charAt(at);
    const next = text.charAt(at + 1);
    if (character === '"') return { value, end: at + 1 };
    if (character === "`") return { reason: "command substitution" };
    if (character === "$" && !HARMLESS_AFTER_DOLLAR.has(next)) return { reason: "expansion" };
    if (character === "!" && !HARMLESS_AFTER_EXCLAMATION.has(next)) return { reason: "history expansion" };
    if (character === BACKSLASH && next === "\n") return { reason: "line continuation inside a word" };
    if (character === BACKSLASH && (next === "$" || next === "`" || next === '"' || next === BACKSLASH)) {
      value += next;
      at++;
    } else value += character;
  }
  return { reason: "open quote" };
}

/** `bare` is the text before `at`, with a `q` for each quoted part. */
function findBareProblem(text: string, at: number, bare: string, use: WordUse): string | undefined {
  const character = text.charAt(at);
  const next = text.charAt(at + 1);
  switch (character) {
    case "$":
      return next === "" ? undefined : "expansion";
    case "`":
      return "command substitution";
    case "*":
    case "?":
      return use === "word" ? "glob" : undefined;
    case "[":
      return use === "word" && text !== "[" ? "glob" : undefined;
    case "~":
      return bare === "" || bare.endsWith("=") || bare.endsWith(":") ? "tilde" : undefined;
    case "!":
      return next === "" || HARMLESS_AFTER_EXCLAMATION.has(next) ? undefined : "history expansion";
    case "^":
      return bare === "" ? "history expansion" : undefined;
    case "#":
      return bare === "" ? "comment inside a word" : undefined;
    case " ":
    case "\t":
    case "\n":
    case "|":
    case "&":
    case ";":
    case "<":
    case ">":
    case "(":
    case ")":
      return "operator inside a word";
    default:
      return isLookAlike(String.fromCodePoint(text.codePointAt(at) ?? 0)) ? "look-alike character" : undefined;
  }
}

/** Braces that expand to several words: those around an unquoted comma or two dots. */
function findExpansion(bare: string): string | undefined {
  const open = bare.indexOf("{");
  if (open === -1) return undefined;
  const rest = bare.slice(open);
  return rest.includes(",") || rest.includes("..") ? "brace expansion" : undefined;
}

/** Non-ASCII characters that resemble an ASCII character, such as a full-width semicolon. */
function isLookAlike(character: string): boolean {
  return character > "\u{7f}" && /[\u{20}-\u{7e}]/u.test(character.normalize("NFKC"));
}
