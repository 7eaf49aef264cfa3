import { checkNumber } from "./check-number.ts";
import { cutText, joinPointer } from "./json-pointer.ts";
import { JsonSyntaxError } from "./json-syntax-error.ts";
import type { JsonBounds } from "./scan-json.ts";

type Step = string | number;

const NUMBER = /-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?/y;
const LITERAL = /true|false|null/y;

/**
 * Finds the first problem of a text that parseJson rejected. Slower than the parser, so it is only called for rejected
 * texts.
 */
export function explainJson(text: string, bounds: JsonBounds): JsonSyntaxError {
  try {
    new Explainer(text, bounds).readText();
  } catch (error) {
    if (error instanceof JsonSyntaxError) return error;
    throw error;
  }
  return new JsonSyntaxError("malformed", "", "the text is not strict JSON");
}

class Explainer {
  readonly #text: string;
  readonly #bounds: JsonBounds;
  readonly #steps: Step[] = [];
  #at = 0;
  #items = 1;

  constructor(text: string, bounds: JsonBounds) {
    this.#text = text;
    this.#bounds = bounds;
  }

  readText(): void {
    this.#readValue(0);
    this.#skipSpace();
    if (this.#at < this.#text.length) throw this.#unexpected("the end of the text");
  }

  #readValue(depth: number): void {
    this.#skipSpace();
    switch (this.#text[this.#at]) {
      case "{":
        return this.#readObject(depth + 1);
      case "[":
        return this.#readArray(depth + 1);
      case '"':
        this.#readString();
        return;
      default:
        return this.#readScalar();
    }
  }

  #readObject(depth: number): void {
    this.#open(depth);
    const seen = new Set<string>();
    if (this.#take("}")) return;
    do {
      this.#skipSpace();
      if (this.#text[this.#at] !== '"') throw this.#unexpected("a key in quotes");
      const key = this.#readString();
      this.#steps.push(key);
      if (seen.has(key)) throw this.#problem("duplicate", `key \`${cutText(key)}\` occurs twice in one object`);
      seen.add(key);
      if (!this.#take(":")) throw this.#unexpected("`:`");
      this.#readValue(depth);
      this.#steps.pop();
    } while (this.#takeComma());
    if (!this.#take("}")) throw this.#unexpected("`,` or `}`");
  }

  #readArray(depth: number): void {
    this.#open(depth);
    if (this.#take("]")) return;
    let index = 0;
    do {
      this.#steps.push(index++);
      this.#readValue(depth);
      this.#steps.pop();
    } while (this.#takeComma());
    if (!this.#take("]")) throw this.#unexpected("`,` or `]`");
  }

  #open(depth: number): void {
    this.#at++;
    const { maxDepth } = this.#bounds;
    if (depth > maxDepth) throw this.#problem("range", `nesting is limited to ${maxDepth} levels`);
    this.#countItem();
  }

  #takeComma(): boolean {
    const taken = this.#take(",");
    if (taken) this.#countItem();
    return taken;
  }

  #countItem(): void {
    const { maxItems } = this.#bounds;
    if (++this.#items > maxItems) throw this.#problem("max_items", `a JSON text holds at most ${maxItems} values`);
  }

  #readString(): string {
    const start = this.#at++;
    let hasEscape = false;
    for (;;) {
      const unit = this.#text.charCodeAt(this.#at);
      if (unit === 0x22) break;
      if (Number.isNaN(unit) || unit < 0x20) throw this.#unexpected("the rest of a string");
      hasEscape ||= unit === 0x5c;
      this.#at += unit === 0x5c ? 2 : 1;
    }
    this.#at++;
    const value = hasEscape ? this.#unescape(start) : this.#text.slice(start + 1, this.#at - 1);
    if (!value.isWellFormed()) throw this.#problem("format", "a string holds half a surrogate pair");
    return value;
  }

  #unescape(start: number): string {
    try {
      return String(JSON.parse(this.#text.slice(start, this.#at)));
    } catch {
      throw this.#problem("malformed", "a string holds an escape that is not JSON");
    }
  }

  #readScalar(): void {
    const start = this.#at;
    NUMBER.lastIndex = start;
    LITERAL.lastIndex = start;
    if (LITERAL.test(this.#text)) {
      this.#at = LITERAL.lastIndex;
    } else if (NUMBER.test(this.#text)) {
      this.#at = NUMBER.lastIndex;
      this.#checkNumber(start);
    } else {
      throw this.#unexpected("a value");
    }
  }

  #checkNumber(start: number): void {
    const verdict = checkNumber(this.#text, start, this.#at);
    const shown = cutText(this.#text.slice(start, this.#at));
    if (verdict === "overflow") throw this.#problem("range", `\`${shown}\` is too large for a number`);
    if (verdict === "inexact_integer") {
      throw this.#problem("range", `\`${shown}\` cannot be held exactly: send it as a string`);
    }
  }

  #take(wanted: string): boolean {
    this.#skipSpace();
    if (this.#text[this.#at] !== wanted) return false;
    this.#at++;
    return true;
  }

  #skipSpace(): void {
    for (; ; this.#at++) {
      const unit = this.#text.charCodeAt(this.#at);
      if (unit !== 0x20 && unit !== 0x0a && unit !== 0x0d && unit !== 0x09) return;
    }
  }

  #unexpected(wanted: string): JsonSyntaxError {
    const found = this.#text.at(this.#at);
    if (this.#at >= this.#text.length || found === undefined) {
      return this.#problem("malformed", `the text ends where ${wanted} is due`);
    }
    return this.#problem("malformed", `found \`${cutText(found)}\` at position ${this.#at} where ${wanted} is due`);
  }

  #problem(rule: JsonSyntaxError["rule"], message: string): JsonSyntaxError {
    const path = this.#steps.reduce((parent: string, step) => joinPointer(parent, step), "");
    return new JsonSyntaxError(rule, path, message);
  }
}
