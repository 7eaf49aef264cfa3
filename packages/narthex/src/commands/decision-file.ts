import { readFile, writeFile } from "node:fs/promises";
import { fromHex, isJsonObject, type JsonObject, type JsonValue, parseJson, toHex, utf8 } from "@narthex/contracts";
import type { StoredDecision } from "@narthex/kernel";
import { CommandError } from "../terminal/command-error.ts";

const FORMAT = "narthex-decisions/1";
/** Fields that are JSON themselves: stored as strings, so that every byte is preserved. */
const TEXTS = { request: "request", input: "input", policySet: "policy_set", schema: "schema" } as const;

/** Writes everything needed to repeat decisions elsewhere. Never overwrites a file. */
export async function writeDecisions(file: string, decisions: readonly StoredDecision[]): Promise<void> {
  const text = (bytes: Uint8Array): string => new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  const json: JsonObject = {
    format: FORMAT,
    decisions: decisions.map((decision) => ({
      proof: toHex(decision.proof),
      ...Object.fromEntries(
        Object.entries(TEXTS).map(([part, name]) => [name, text(decision[part as keyof typeof TEXTS])]),
      ),
    })),
  };
  try {
    await writeFile(file, `${JSON.stringify(json, undefined, 2)}\n`, { flag: "wx", mode: 0o600 });
  } catch (cause) {
    throw new CommandError("INVALID_INPUT", `\`${file}\` cannot be written`, {
      cause,
      next: "name a file that is not there yet, in a directory you can write to",
    });
  }
}

/** Reads a file of decisions, which may come from an untrusted source. */
export async function readDecisions(file: string): Promise<StoredDecision[]> {
  let json: JsonValue;
  try {
    json = parseJson(await readFile(file));
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new CommandError("INVALID_INPUT", `\`${file}\` cannot be read: ${why}`, {
      cause,
      next: "name SESSION/REQUEST, the hash of a proof, or a file that `narthex policy recheck --out` wrote",
    });
  }
  const decisions = isJsonObject(json) && json["format"] === FORMAT ? json["decisions"] : undefined;
  if (!Array.isArray(decisions) || decisions.length === 0) throw createFormatError(file);
  return decisions.map((decision) => readDecision(decision, file));
}

function readDecision(json: JsonValue, file: string): StoredDecision {
  const part = (name: string): string => {
    const value = isJsonObject(json) ? json[name] : undefined;
    if (typeof value !== "string") throw createFormatError(file);
    return value;
  };
  const proof = fromHex(part("proof"));
  if (proof === undefined) throw createFormatError(file);
  const bytes = (name: string): Uint8Array => utf8(part(name));
  return {
    proof,
    request: bytes(TEXTS.request),
    input: bytes(TEXTS.input),
    policySet: bytes(TEXTS.policySet),
    schema: bytes(TEXTS.schema),
  };
}

function createFormatError(file: string): CommandError {
  return new CommandError("INVALID_INPUT", `\`${file}\` is no file of decisions`, {
    next: "write one with `narthex policy recheck SESSION/REQUEST --out FILE`",
  });
}
