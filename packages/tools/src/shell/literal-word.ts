/** What a word is, if no shell would make anything else of it than its text without quotes. */
export type LiteralWord = { readonly value: string } | { readonly reason: string };

/** `pattern`: a pattern of `case`, where globs match a text and no files. */
export type WordUse = "word" | "pattern";

const BACKSLASH = "\\";
/** A dollar sign before one of these, or at the end, is a dollar sign to every shell. */
const HARMLESS_AFTER_DOLLAR = new Set(['"', " ", "\n", "|", ")", "/"]);
/** After these, or at the end, an exclamation mark is no history expansion. */
const HARMLESS_AFTER_EXCLAMATION = new Set(['"', " ", "\t", "\n", "=", "("]);

/**
 * Removes the quotes of one word, or says why the word is not literal.
 * SECURITY: this reads the word anew and not the parser's view of it. It knows only what it lets pass; both readings
 * have to agree, and a construct that shells of one family read differently passes neither.
 */
export function literalWord(text: string, use: WordUse = "word"): LiteralWord {
  // The same as below for the words that most commands are made of.
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

/** The text up to the closing quote, and where it goes on. */
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

/** `bare` is what came before, with a `q` for everything quoted. */
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

/** Braces that make several words of one: those around an unquoted comma or two dots. */
function findExpansion(bare: string): string | undefined {
  const open = bare.indexOf("{");
  if (open === -1) return undefined;
  const rest = bare.slice(open);
  return rest.includes(",") || rest.includes("..") ? "brace expansion" : undefined;
}

/** Characters beyond ASCII that stand for one of ASCII, such as a full-width semicolon. */
function isLookAlike(character: string): boolean {
  return character > "\u{7f}" && /[\u{20}-\u{7e}]/u.test(character.normalize("NFKC"));
}
