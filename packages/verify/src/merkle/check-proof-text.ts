import { toHex } from "@narthex/contracts";
import { readBundledKeys } from "../bundle/bundled-keys.ts";
import { hashOfRecord, sameBytes } from "../ledger-hash.ts";
import { decodeRecord } from "../ledger-messages.ts";
import { Malformed } from "../wire/decode-canonical.ts";
import { type Checkpoint, isSignedBy, parseCheckpoint } from "./checkpoint.ts";
import { KeyHistory } from "./key-history.ts";
import type { VerifierKey } from "./verifier-key.ts";
import { decodeBase64 } from "./strict-base64.ts";
import { leafHash } from "../hash/tree-hashes.ts";
import { isExtension, rootFromPath } from "./tree-proofs.ts";

/** What a proof shows to a verifier that trusts the key. */
export type ProvenFact =
  | {
      readonly kind: "record";
      readonly origin: string;
      readonly treeSize: number;
      readonly index: number;
      readonly recordHash: Uint8Array;
      /** Undefined if the proof does not contain the record. */
      readonly record: { readonly chain: string; readonly requestId: string; readonly wallTimeMs: number } | undefined;
    }
  | { readonly kind: "extension"; readonly origin: string; readonly fromSize: number; readonly treeSize: number };

/**
 * `unreadable`: the text is not a proof, or lacks a required part. Otherwise the proof is invalid and proves nothing.
 */
export class ProofFault extends Error {
  readonly isUnreadable: boolean;

  constructor(message: string, { isUnreadable = false } = {}) {
    super(message);
    this.isUnreadable = isUnreadable;
  }
}

export interface ProofTrust {
  readonly key: VerifierKey;
  /** Announcements of keys from the first on, needed if a later key has signed. */
  readonly announcements: readonly string[];
  /** The expected hash of the record, if the proof does not contain the record. */
  readonly recordHash: Uint8Array | undefined;
}

/** SPEC: docs/formats/log.md, "Checking". Throws a ProofFault. Uses nothing but the text and the trusted data. */
export function checkProofText(text: string, trust: ProofTrust): ProvenFact {
  const keys = trustedKeys(trust);
  const [head = "", ...parts] = text.split("\n\n");
  const [first = "", ...lines] = head.split("\n");
  if (first === "c2sp.org/tlog-proof@v1" && parts.length === 2) return checkInclusion(lines, parts, keys, trust);
  if (first === "narthex/log-consistency/v1" && parts.length === 4) return checkExtension(lines, parts, keys);
  throw unreadable("it does not begin like a proof, or is cut off");
}

function trustedKeys({ key, announcements }: ProofTrust): readonly VerifierKey[] {
  if (announcements.length === 0) return [key];
  const { keys, problem } = readBundledKeys(announcements);
  if (problem !== "") throw new ProofFault(`the announcement of a key is not good: ${problem}`);
  const history = new KeyHistory(key);
  for (const announced of keys) history.take(announced);
  if (!history.isTrusted) throw new ProofFault("the announcements do not lead on from the trusted key");
  return history.trustedKeys;
}

function checkInclusion(
  lines: readonly string[],
  parts: readonly string[],
  keys: readonly VerifierKey[],
  { recordHash: known }: ProofTrust,
): ProvenFact {
  const [extra = ""] = lines;
  const bytes = extra.startsWith("extra ") ? decodeBase64(extra.slice("extra ".length)) : undefined;
  if (extra.startsWith("extra ") && bytes === undefined) throw unreadable("its record is no base64");
  const [place = "", ...path] = bytes === undefined ? lines : lines.slice(1);
  const index = /^index (0|[1-9][0-9]{0,15})$/.exec(place)?.[1];
  if (index === undefined) throw unreadable("it names no index");
  const checkpoint = signedCheckpoint(parts.join("\n\n"), keys);
  const recordHash = bytes === undefined ? known : hashOfRecord(bytes);
  if (recordHash === undefined) throw unreadable("it does not hold the record, and its hash was not given");
  if (known !== undefined && !sameBytes(known, recordHash)) throw new ProofFault("it is the proof of another record");
  const record = bytes === undefined ? undefined : recordFacts(bytes, Number(index));
  const root = rootFromPath(leafHash(recordHash), Number(index), checkpoint.size, hashesOf(path));
  if (root === undefined || !sameBytes(root, checkpoint.root)) {
    throw new ProofFault(`the record is not the one that the checkpoint covers at ${index}`);
  }
  const { origin, size: treeSize } = checkpoint;
  return { kind: "record", origin, treeSize, index: Number(index), recordHash: recordHash.slice(), record };
}

function recordFacts(bytes: Uint8Array, index: number) {
  const record = decodeRecord(bytes);
  if (record instanceof Malformed) throw new ProofFault(`its record is none: ${record.reason}`);
  if (record.index !== index) throw new ProofFault("its record says another index");
  const { chain, requestId, wallTimeMs } = record;
  return { chain, requestId, wallTimeMs };
}

function checkExtension(path: readonly string[], parts: readonly string[], keys: readonly VerifierKey[]): ProvenFact {
  const older = signedCheckpoint(`${parts.slice(0, 2).join("\n\n")}\n`, keys);
  const newer = signedCheckpoint(parts.slice(2).join("\n\n"), keys);
  if (!isExtension(older, newer, hashesOf(path))) {
    throw new ProofFault(`the checkpoint of ${newer.size} records does not extend that of ${older.size}`);
  }
  return { kind: "extension", origin: newer.origin, fromSize: older.size, treeSize: newer.size };
}

function signedCheckpoint(note: string, keys: readonly VerifierKey[]): Checkpoint {
  const checkpoint = parseCheckpoint(note);
  if (checkpoint === undefined) throw unreadable("its checkpoint is none");
  if (keys.some((key) => isSignedBy(checkpoint, key))) return checkpoint;
  const by = checkpoint.signatures.map(({ keyId }) => keyId).join(", ");
  throw new ProofFault(`its checkpoint is not signed by a key that is trusted, but by ${by}`);
}

function hashesOf(lines: readonly string[]): Uint8Array[] {
  // If there is nothing between the header and the empty line, there is no line either.
  return lines.map((line) => {
    const hash = decodeBase64(line);
    if (hash === undefined || toHex(hash).length !== 64) throw unreadable("a line of its path is no hash");
    return hash;
  });
}

function unreadable(message: string): ProofFault {
  return new ProofFault(message, { isUnreadable: true });
}
