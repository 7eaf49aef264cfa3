import { INVISIBLE_CHARACTER } from "@narthex/contracts";
import type { DetailedError } from "@cedar-policy/cedar-wasm/nodejs";
import { fromByteOffset } from "./file-positions.ts";

const MAX_MESSAGE_LENGTH = 600;
const INVISIBLE = new RegExp(INVISIBLE_CHARACTER, "gu");
/** Rules are passed to Cedar under numbers, which mean nothing to a reader. */
const PREAMBLE = /for policy `[0-9]+`, |^failed to parse (?:policy|policies|template|policy set) from string: /g;

/** Formats Cedar's message about a rule on one line, including its help. */
export function cedarMessage({ message, help, sourceLocations }: DetailedError): string {
  const label = sourceLocations?.find((location) => location.label !== null)?.label;
  const parts = [message, label, help].filter((part) => typeof part === "string" && part !== "");
  const line = parts.join("; ").replaceAll(PREAMBLE, "").replaceAll(INVISIBLE, spellOut);
  return line.length > MAX_MESSAGE_LENGTH ? `${line.slice(0, MAX_MESSAGE_LENGTH)}…` : line;
}

/** Returns the position of an error in the rule's text, in UTF-16 units. */
export function cedarOffset(text: string, { sourceLocations }: DetailedError): number {
  return fromByteOffset(text, sourceLocations?.[0]?.start ?? 0);
}

function spellOut(character: string): string {
  return `\\u{${(character.codePointAt(0) ?? 0).toString(16)}}`;
}
