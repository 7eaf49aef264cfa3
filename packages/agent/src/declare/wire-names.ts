import { blake3, toHex, utf8 } from "@narthex/contracts";

/** The names under which providers know tools, and the reverse lookup. */
export interface WireNames {
  toWire(name: string): string;
  /** Undefined for an unknown name. */
  fromWire(wireName: string): string | undefined;
}

/**
 * Names that every provider accepts: OpenAI `[a-zA-Z0-9_-]{1,64}`, Anthropic up to 128 of the same, Gemini a letter or
 * underscore first, MCP up to 128 with dots.
 */
const WIRE_NAME = /^[a-zA-Z_][a-zA-Z0-9_-]{0,63}$/;
const MAX_LENGTH = 64;
const DIGEST_LENGTH = 10;

/**
 * SECURITY: a name that a model calls is looked up here and never translated back by rule, so no spelling reaches a
 * tool that was not shown under that name. A changed name contains a digest of the original.
 */
export function createWireNames(names: readonly string[]): WireNames {
  const wireNames = new Map<string, string>();
  const tools = new Map<string, string>();
  // Valid names stay unchanged, even if another changed name would collide with one.
  const fitting = names.filter((name) => WIRE_NAME.test(name));
  for (const name of fitting) tools.set(name, name);
  for (const name of fitting) wireNames.set(name, name);
  for (const name of names) {
    if (wireNames.has(name)) continue;
    let wireName = changed(name, 0);
    for (let attempt = 1; tools.has(wireName); attempt++) wireName = changed(name, attempt);
    wireNames.set(name, wireName);
    tools.set(wireName, name);
  }
  return {
    toWire: (name) => wireNames.get(name) ?? name,
    fromWire: (wireName) => tools.get(wireName),
  };
}

function changed(name: string, attempt: number): string {
  const digest = toHex(blake3(utf8(`${attempt}:${name.toWellFormed()}`))).slice(0, DIGEST_LENGTH);
  const kept = name.replace(/[^a-zA-Z0-9_-]+/g, "_").replace(/^[^a-zA-Z_]/, "_");
  return `${kept.slice(0, MAX_LENGTH - DIGEST_LENGTH - 1)}_${digest}`.replace(/^[^a-zA-Z_]/, "_");
}
