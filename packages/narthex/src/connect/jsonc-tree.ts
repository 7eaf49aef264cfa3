import type { JsonValue } from "@narthex/contracts";

/** A parsed value with its position in the text: from `start` (inclusive) to `end` (exclusive). */
export type JsoncNode = JsoncObject | JsoncArray | JsoncScalar;

interface Place {
  readonly start: number;
  readonly end: number;
}

export interface JsoncObject extends Place {
  readonly kind: "object";
  readonly entries: readonly JsoncMember[];
}

export interface JsoncArray extends Place {
  readonly kind: "array";
  readonly entries: readonly JsoncNode[];
}

interface JsoncScalar extends Place {
  readonly kind: "scalar";
  readonly value: string | number | boolean | null;
}

/** Spans from the key to the end of the value. */
interface JsoncMember extends Place {
  readonly key: string;
  readonly value: JsoncNode;
}

/** Where a text is not valid JSON, and why. */
export class JsoncProblem extends Error {
  override readonly name = "JsoncProblem";
  readonly at: number;

  constructor(at: number, message: string) {
    super(message);
    this.at = at;
  }
}

const MAX_DEPTH = 100;
const SPACE = " \t\r\n";
const NUMBER = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/y;
const WORD = /true|false|null/y;
const STRING = /"(?:[^"\\]|\\.)*"/sy;

/** Parses JSON with comments and trailing commas. Throws a JsoncProblem for anything else. */
export function parseJsonc(text: string): JsoncNode {
  const reader = new Reader(text);
  const node = reader.value(0);
  const end = skipTrivia(text, node.end);
  if (end < text.length) throw new JsoncProblem(end, "there is more after the end of the value");
  return node;
}

/** Converts a node to its JSON value. Of two members with the same key the last one counts, as in most parsers. */
export function valueOf(node: JsoncNode): JsonValue {
  if (node.kind === "scalar") return node.value;
  if (node.kind === "array") return node.entries.map(valueOf);
  return Object.fromEntries(node.entries.map(({ key, value }) => [key, valueOf(value)]));
}

/** Skips whitespace and comments. */
export function skipTrivia(text: string, from: number): number {
  let at = from;
  for (;;) {
    while (SPACE.includes(text[at] ?? "x")) at += 1;
    if (text.startsWith("//", at)) at = endOfLine(text, at);
    else if (text.startsWith("/*", at)) at = endOfComment(text, at);
    else return at;
  }
}

function endOfLine(text: string, from: number): number {
  const found = /[\r\n]/.exec(text.slice(from));
  return found === null ? text.length : from + found.index;
}

function endOfComment(text: string, from: number): number {
  const end = text.indexOf("*/", from + 2);
  if (end < 0) throw new JsoncProblem(from, "a comment does not end");
  return end + 2;
}

class Reader {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  value(from: number, depth = 0): JsoncNode {
    // A byte order mark is preserved.
    const start = skipTrivia(this.#text, from === 0 && this.#text.startsWith("\ufeff") ? 1 : from);
    if (depth > MAX_DEPTH) throw new JsoncProblem(start, `values are nested more than ${MAX_DEPTH} deep`);
    const first = this.#text[start];
    if (first === undefined) throw new JsoncProblem(start, "a value is missing at the end");
    if (first === "{") return this.#container(start, "}", depth);
    if (first === "[") return this.#container(start, "]", depth);
    return this.#scalar(start);
  }

  #container(start: number, close: "}" | "]", depth: number): JsoncNode {
    const members: JsoncMember[] = [];
    const items: JsoncNode[] = [];
    let at = skipTrivia(this.#text, start + 1);
    while (this.#text[at] !== close) {
      let last: Place;
      if (close === "}") members.push((last = this.#member(at, depth)));
      else items.push((last = this.value(at, depth + 1)));
      at = skipTrivia(this.#text, last.end);
      if (this.#text[at] === ",") at = skipTrivia(this.#text, at + 1);
      else if (this.#text[at] !== close) throw new JsoncProblem(at, `\`,\` or \`${close}\` is missing`);
    }
    const place = { start, end: at + 1 };
    return close === "}" ? { kind: "object", entries: members, ...place } : { kind: "array", entries: items, ...place };
  }

  #member(start: number, depth: number): JsoncMember {
    if (this.#text[start] !== '"') throw new JsoncProblem(start, "a key in double quotes is missing");
    const { end, value: key } = this.#scalar(start);
    const colon = skipTrivia(this.#text, end);
    if (this.#text[colon] !== ":") throw new JsoncProblem(colon, "`:` is missing after a key");
    const value = this.value(skipTrivia(this.#text, colon + 1), depth + 1);
    return { key: String(key), value, start, end: value.end };
  }

  #scalar(start: number): JsoncScalar {
    for (const pattern of [STRING, NUMBER, WORD]) {
      pattern.lastIndex = start;
      const found = pattern.exec(this.#text)?.[0];
      if (found !== undefined)
        return { kind: "scalar", value: this.#read(found, start), start, end: start + found.length };
    }
    throw new JsoncProblem(start, this.#text[start] === '"' ? "a text does not end" : "this is no JSON value");
  }

  #read(source: string, start: number): JsoncScalar["value"] {
    try {
      return JSON.parse(source) as JsoncScalar["value"];
    } catch (cause) {
      throw new JsoncProblem(start, `this is no JSON text: ${cause instanceof Error ? cause.message : ""}`);
    }
  }
}
