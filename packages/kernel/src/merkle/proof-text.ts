import { encodeBase64 } from "./strict-base64.ts";

/** SPEC: docs/formats/log.md, "Proofs". */

export interface InclusionProof {
  /** An encoded `Record`; absent if the recipient of the proof already has it. */
  readonly record: Uint8Array | undefined;
  readonly index: number;
  readonly path: readonly Uint8Array[];
  /** A signed note. */
  readonly checkpoint: string;
}

export interface ConsistencyProof {
  readonly path: readonly Uint8Array[];
  readonly older: string;
  readonly newer: string;
}

export function inclusionProofText({ record, index, path, checkpoint }: InclusionProof): string {
  const extra = record === undefined ? "" : `extra ${encodeBase64(record)}\n`;
  return `c2sp.org/tlog-proof@v1\n${extra}index ${index}\n${hashLines(path)}\n${checkpoint}`;
}

export function consistencyProofText({ path, older, newer }: ConsistencyProof): string {
  return `narthex/log-consistency/v1\n${hashLines(path)}\n${older}\n${newer}`;
}

function hashLines(path: readonly Uint8Array[]): string {
  return path.map((hash) => `${encodeBase64(hash)}\n`).join("");
}
