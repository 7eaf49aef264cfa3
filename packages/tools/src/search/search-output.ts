import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import type { FirstMatches, SearchMatch } from "./first-matches.ts";

/** Maximum length of a matching line in the result; of a longer line, the part around the match. */
const MAX_TEXT = 1000;
const BEFORE_MATCH = 200;

interface FoundLine {
  readonly line: number;
  readonly text: string;
  /** Undefined for a context line. */
  readonly column: number | undefined;
}

export interface SearchOutputOptions {
  readonly context: number;
  /** Maximum number of matches reported per file. */
  readonly maxMatches: number;
  /** Receives each file with matches when the file is complete. */
  readonly found: FirstMatches;
  /** Whether a file counts. */
  readonly isWanted: (path: string) => boolean;
}

/**
 * Parses ripgrep's `--json` output as it arrives. The matches of a file count only at the end of the file, because only
 * then it is known whether the file is binary.
 */
export class SearchOutput {
  /** Whether ripgrep has reported its summary. An error then is not an invalid pattern. */
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

  /** Most lines only mark where a file begins or ends and need no parsing. */
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
    // SECURITY: the file's name precedes this text in the line, but every quote in it is escaped, so it cannot imitate
    // the text.
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

/** ripgrep encodes text that is not UTF-8 as base64. */
function bytesOf(value: JsonValue | undefined): Buffer {
  const text = textOf(value);
  if (text !== undefined) return Buffer.from(text);
  const bytes = isJsonObject(value) ? value["bytes"] : undefined;
  return Buffer.from(typeof bytes === "string" ? bytes : "", "base64");
}

/** Whether bytes and characters are the same. */
function isPlain(text: string): boolean {
  return /^[\u0000-\u007f]*$/u.test(text);
}
