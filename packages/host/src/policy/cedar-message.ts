import { UNSEEN_CHARACTER } from "@narthex/contracts";
import type { DetailedError } from "@cedar-policy/cedar-wasm/nodejs";
import { fromByteOffset } from "./file-places.ts";

const LONGEST = 600;
const UNSEEN = new RegExp(UNSEEN_CHARACTER, "gu");
/** Rules are handed to Cedar under numbers, which mean nothing to a reader. */
const PREAMBLE = /for policy `[0-9]+`, |^failed to parse (?:policy|policies|template|policy set) from string: /g;

/** What Cedar says about a rule, on one line, with its own help. */
export function cedarMessage({ message, help, sourceLocations }: DetailedError): string {
  const label = sourceLocations?.find((location) => location.label !== null)?.label;
  const parts = [message, label, help].filter((part) => typeof part === "string" && part !== "");
  const line = parts.join("; ").replaceAll(PREAMBLE, "").replaceAll(UNSEEN, spellOut);
  return line.length > LONGEST ? `${line.slice(0, LONGEST)}…` : line;
}

/** Where in the rule's text it is, in UTF-16 units. */
export function cedarOffset(text: string, { sourceLocations }: DetailedError): number {
  return fromByteOffset(text, sourceLocations?.[0]?.start ?? 0);
}

function spellOut(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
