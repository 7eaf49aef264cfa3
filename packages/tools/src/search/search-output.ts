import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import type { FirstMatches, SearchMatch } from "./first-matches.ts";

/** How much of a matching line is told; of a longer one the part around the match. */
const MAX_TEXT = 1000;
const BEFORE_MATCH = 200;

interface FoundLine {
  readonly line: number;
  readonly text: string;
  /** Undefined for a line of context. */
  readonly column: number | undefined;
}

export interface SearchOutputOptions {
  readonly context: number;
  /** Of one file, no more than these are ever told. */
  readonly maxMatches: number;
  /** Told when a file with matches is complete. */
  readonly found: FirstMatches;
  /** Files that count; all of them if undefined. */
  readonly isWanted: (path: string) => boolean;
}

/**
 * Reads what ripgrep prints with `--json`, as it comes. A file's matches count only when the file has come to its end:
 * only then is it known whether it is a binary one.
 */
export class SearchOutput {
  /** ripgrep has said that it is done: it was not the pattern that stopped it. */
  isComplete = false;
  readonly #options: SearchOutputOptions;
  readonly #decoder = new TextDecoder();
  #rest = "";
  #lines: FoundLine[] = [];
  #path: JsonValue | undefined;
  #count = 0;

  constructor(options: SearchOutputOptions) {
    this.#options = options;
  }

  take(chunk: Uint8Array): void {
    const text = this.#rest + this.#decoder.decode(chunk, { stream: true });
    const end = text.lastIndexOf("\n");
    this.#rest = text.slice(end + 1);
    if (end === -1) return;
    for (const line of text.slice(0, end).split("\n")) this.#read(line);
  }

  /** Most of what is printed says no more than where a file begins and ends, and need not be read. */
  #read(line: string): void {
    if (line.startsWith('{"type":"begin"')) this.#begin();
    else if (line.startsWith('{"type":"end"')) this.#end(line);
    else if (line.startsWith('{"type":"match"')) this.#match(dataOf(line));
    else if (line.startsWith('{"type":"context"')) this.#context(dataOf(line));
    else if (line.endsWith('"type":"summary"}')) this.isComplete = true;
  }

  #begin(): void {
    this.#lines = [];
    this.#count = 0;
  }

  #match(data: JsonObject): void {
    this.#count++;
    if (this.#count > this.#options.maxMatches) return;
    const submatches = data["submatches"];
    const first = Array.isArray(submatches) && isJsonObject(submatches[0]) ? submatches[0]["start"] : 0;
    this.#path = data["path"];
    this.#lines.push(lineOf(data, typeof first === "number" ? first : 0));
  }

  #context(data: JsonObject): void {
    if (this.#count <= this.#options.maxMatches) this.#lines.push(lineOf(data, undefined));
  }

  #end(line: string): void {
    const { found, isWanted } = this.#options;
    // SECURITY: the file's own name comes first in the line, and in it every quote is escaped.
    if (this.#count > 0 && line.includes('},"binary_offset":null,"stats":{')) {
      const text = textOf(this.#path);
      const path = (text ?? bytesOf(this.#path).toString()).replace(/^\.\//u, "");
      const order = text !== undefined && isPlain(text) ? text : bytesOf(this.#path).toString("latin1");
      if (isWanted(path)) {
        found.add({ path, order: order.replaceAll("/", "\0"), count: this.#count, matches: this.#matches() });
      }
    }
    this.#begin();
  }

  #matches(): SearchMatch[] {
    const { context } = this.#options;
    const texts = context === 0 ? undefined : new Map(this.#lines.map(({ line, text }) => [line, text]));
    return this.#lines.flatMap(({ line, text, column }) => {
      if (column === undefined) return [];
      const around = texts && {
        before: textsOf(texts, line - context, line),
        after: textsOf(texts, line + 1, line + context + 1),
      };
      return [{ line, column, text, ...around }];
    });
  }
}

function textsOf(texts: ReadonlyMap<number, string>, from: number, to: number): string[] {
  const found: string[] = [];
  for (let line = from; line < to; line++) {
    const text = texts.get(line);
    if (text !== undefined) found.push(text);
  }
  return found;
}

function lineOf(data: JsonObject, start: number | undefined): FoundLine {
  const text = textOf(data["lines"]) ?? bytesOf(data["lines"]).toString();
  const line = typeof data["line_number"] === "number" ? data["line_number"] : 0;
  const whole = text.endsWith("\n") ? text.slice(0, text.endsWith("\r\n") ? -2 : -1) : text;
  if (start === undefined) return { line, text: cut(whole, 0), column: undefined };
  const plain = text.slice(0, start);
  const before = isPlain(plain) ? plain : bytesOf(data["lines"]).subarray(0, start).toString();
  const from = whole.length > MAX_TEXT ? Math.max(0, before.length - BEFORE_MATCH) : 0;
  return { line, text: cut(whole, from), column: (before === plain ? before.length : Array.from(before).length) + 1 };
}

function cut(text: string, from: number): string {
  return text.length <= MAX_TEXT ? text : text.slice(from, from + MAX_TEXT).toWellFormed();
}

function dataOf(line: string): JsonObject {
  const message = JSON.parse(line) as JsonValue;
  return isJsonObject(message) && isJsonObject(message["data"]) ? message["data"] : {};
}

function textOf(value: JsonValue | undefined): string | undefined {
  if (!isJsonObject(value)) return undefined;
  const text = value["text"];
  return typeof text === "string" ? text : undefined;
}

/** ripgrep says in base64 what is not UTF-8. */
function bytesOf(value: JsonValue | undefined): Buffer {
  const text = textOf(value);
  if (text !== undefined) return Buffer.from(text);
  const bytes = isJsonObject(value) ? value["bytes"] : undefined;
  return Buffer.from(typeof bytes === "string" ? bytes : "", "base64");
}

/** Bytes and characters are the same. */
function isPlain(text: string): boolean {
  return /^[\u0000-\u007f]*$/u.test(text);
}
