import type { JsonValue } from "@narthex/contracts";
import { EditProblem } from "./configuration-edit.ts";

/** An assignment or a table header in a TOML text, with its position: from `start` (inclusive) to `end` (exclusive). */
export type TomlStatement = TomlAssignment | TomlHeader;

export interface TomlAssignment {
  readonly kind: "assignment";
  /** Keys of its table followed by its own keys. */
  readonly path: readonly string[];
  /** How many of the keys come from the table header. */
  readonly tableDepth: number;
  readonly start: number;
  readonly end: number;
  readonly valueStart: number;
  /** Undefined for values that no edit writes: an inline table, a date, a decimal number. */
  readonly value: JsonValue | undefined;
}

export interface TomlHeader {
  readonly kind: "header";
  readonly path: readonly string[];
  /** `[[name]]`: an element of an array of tables. */
  readonly isElement: boolean;
  readonly start: number;
  readonly end: number;
}

const SPACE = /[ \t]*/y;
const BARE_KEY = /[\w-]+/y;
const BASIC_STRING = /"(?:[^"\\\r\n]|\\[^\r\n])*"/y;
const LITERAL_STRING = /'[^'\r\n]*'/y;
const LONG_BASIC_STRING = /"""(?:[^\\]|\\[^])*?"""(?:""?(?!"))?/y;
const LONG_LITERAL_STRING = /'''[^]*?'''(?:''?(?!'))?/y;
const WORD = /\d{4}-\d\d-\d\d \d[\w:.+-]*|[\w+:.-]+/y;
const MAX_DEPTH = 100;

/**
 * Finds the statements of a TOML text. Throws an EditProblem with the position if it is not TOML, as far as needed to
 * find every statement: the client itself checks which words are values and whether a table is defined twice.
 */
export function parseToml(text: string): readonly TomlStatement[] {
  return new Reader(text).statements();
}

class Reader {
  readonly #text: string;
  #at: number;

  constructor(text: string) {
    this.#text = text;
    this.#at = text.startsWith("\ufeff") ? 1 : 0;
  }

  statements(): readonly TomlStatement[] {
    const statements: TomlStatement[] = [];
    let table: readonly string[] = [];
    for (;;) {
      this.#skipBlank();
      if (this.#at >= this.#text.length) return statements;
      const statement = this.#text[this.#at] === "[" ? this.#header() : this.#assignment(table);
      if (statement.kind === "header") table = statement.path;
      statements.push(statement);
      this.#endLine();
    }
  }

  #header(): TomlHeader {
    const start = this.#at;
    const isElement = this.#text.startsWith("[[", start);
    this.#at += isElement ? 2 : 1;
    const path = this.#keys();
    const close = isElement ? "]]" : "]";
    if (!this.#text.startsWith(close, this.#at)) this.#fail(`\`${close}\` is missing after the table's name`);
    this.#at += close.length;
    return { kind: "header", path, isElement, start, end: this.#at };
  }

  #assignment(table: readonly string[]): TomlAssignment {
    const start = this.#at;
    const keys = this.#keys();
    if (this.#text[this.#at] !== "=") this.#fail("`=` is missing after a key");
    this.#at += 1;
    this.#take(SPACE);
    const valueStart = this.#at;
    const value = this.#value(0);
    return {
      kind: "assignment",
      path: [...table, ...keys],
      tableDepth: table.length,
      start,
      end: this.#at,
      valueStart,
      value,
    };
  }

  #keys(): readonly string[] {
    const keys: string[] = [];
    for (;;) {
      this.#take(SPACE);
      keys.push(this.#key());
      this.#take(SPACE);
      if (this.#text[this.#at] !== ".") return keys;
      this.#at += 1;
    }
  }

  #key(): string {
    const start = this.#at;
    const bare = this.#take(BARE_KEY);
    if (bare !== "") return bare;
    const basic = this.#take(BASIC_STRING);
    if (basic !== "") return this.#unescape(basic, start);
    const literal = this.#take(LITERAL_STRING);
    if (literal !== "") return literal.slice(1, -1);
    return this.#fail("a key is missing");
  }

  #value(depth: number): JsonValue | undefined {
    const start = this.#at;
    if (depth > MAX_DEPTH) this.#fail(`values are nested more than ${MAX_DEPTH} deep`);
    if (this.#text[start] === "[") return this.#list(depth);
    if (this.#text[start] === "{") return this.#inlineTable(depth);
    if (this.#take(LONG_BASIC_STRING) !== "" || this.#take(LONG_LITERAL_STRING) !== "") return undefined;
    if (this.#text.startsWith('"""', start) || this.#text.startsWith("'''", start)) this.#fail("a text does not end");
    const basic = this.#take(BASIC_STRING);
    if (basic !== "") return this.#unescape(basic, start);
    const literal = this.#take(LITERAL_STRING);
    if (literal !== "") return literal.slice(1, -1);
    const word = this.#take(WORD);
    if (word === "") this.#fail("a value is missing");
    if (word === "true" || word === "false") return word === "true";
    return /^(?:0|[1-9]\d{0,14})$/.test(word) ? Number(word) : undefined;
  }

  #list(depth: number): JsonValue | undefined {
    const items: (JsonValue | undefined)[] = [];
    this.#at += 1;
    for (;;) {
      this.#skipBlank();
      if (this.#text[this.#at] === "]") break;
      items.push(this.#value(depth + 1));
      this.#skipBlank();
      if (this.#text[this.#at] === ",") this.#at += 1;
      else if (this.#text[this.#at] !== "]") this.#fail("`,` or `]` is missing");
    }
    this.#at += 1;
    const known = items.filter((item) => item !== undefined);
    return known.length === items.length ? known : undefined;
  }

  /** Newer versions of TOML allow line breaks and comments in an inline table. */
  #inlineTable(depth: number): undefined {
    this.#at += 1;
    for (;;) {
      this.#skipBlank();
      if (this.#text[this.#at] === "}") break;
      this.#keys();
      if (this.#text[this.#at] !== "=") this.#fail("`=` is missing after a key");
      this.#at += 1;
      this.#take(SPACE);
      this.#value(depth + 1);
      this.#skipBlank();
      if (this.#text[this.#at] === ",") this.#at += 1;
      else if (this.#text[this.#at] !== "}") this.#fail("`,` or `}` is missing");
    }
    this.#at += 1;
    return undefined;
  }

  #unescape(source: string, start: number): string {
    const json = source.replace(/\\(?:U[\da-fA-F]{8}|x[\da-fA-F]{2}|[^])/g, toJsonEscape).replaceAll("\t", "\\t");
    try {
      return JSON.parse(json) as string;
    } catch {
      this.#at = start;
      return this.#fail("a text holds an unknown escape");
    }
  }

  /** Skips whitespace, line ends and comments. */
  #skipBlank(): void {
    for (;;) {
      this.#take(/[ \t\r\n]*/y);
      if (this.#text[this.#at] !== "#") return;
      this.#take(/#[^\r\n]*/y);
    }
  }

  #endLine(): void {
    this.#take(/[ \t]*(?:#[^\r\n]*)?/y);
    if (this.#at < this.#text.length && !/[\r\n]/.test(this.#text[this.#at] ?? "")) {
      this.#fail("the line goes on after the end of the value");
    }
  }

  /** Consumes the text that matches the pattern here; empty if nothing matches. */
  #take(pattern: RegExp): string {
    pattern.lastIndex = this.#at;
    const found = pattern.exec(this.#text)?.[0] ?? "";
    this.#at += found.length;
    return found;
  }

  #fail(message: string): never {
    throw new EditProblem(this.#at, `not valid TOML: ${message}`);
  }
}

/** Converts escapes that JSON does not have: `\U`, `\x` and `\e`. */
function toJsonEscape(escape: string): string {
  if (escape === "\\e") return "\\u001b";
  if (/^\\x../.test(escape)) return `\\u00${escape.slice(2)}`;
  if (!/^\\U./.test(escape)) return escape;
  const code = Number.parseInt(escape.slice(2), 16);
  return code > 0x10ffff ? escape : JSON.stringify(String.fromCodePoint(code)).slice(1, -1);
}
