import { decodeBase64, encodeBase64 } from "./strict-base64.ts";
import { HASH_BYTES } from "./tree-hash.ts";

/** Size and root of a tree. */
export interface TreeHead {
  readonly size: number;
  readonly root: Uint8Array;
}

export interface CheckpointFacts extends TreeHead {
  readonly origin: string;
}

/** SPEC: docs/formats/log.md, "Checkpoints". Creates the text that is signed. */
export function checkpointText({ origin, size, root }: CheckpointFacts): string {
  return `${origin}\n${size}\n${encodeBase64(root)}\n`;
}

/** Parses a checkpoint text; undefined if it is invalid. */
export function parseCheckpointText(text: string): CheckpointFacts | undefined {
  const [origin = "", sizeText = "", rootText = "", end, ...more] = text.split("\n");
  const size = parseDecimal(sizeText);
  const root = decodeBase64(rootText);
  if (origin === "" || end !== "" || more.length > 0 || size === undefined) return undefined;
  return root?.length === HASH_BYTES ? { origin, size, root } : undefined;
}

/** Parses a decimal number without leading zeros, up to 2^53 - 1. */
export function parseDecimal(text: string): number | undefined {
  const value = /^(?:0|[1-9][0-9]{0,15})$/.test(text) ? Number(text) : Number.NaN;
  return Number.isSafeInteger(value) ? value : undefined;
}
