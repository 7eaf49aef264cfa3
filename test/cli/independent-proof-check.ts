import assert from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import { hashRecord } from "@narthex/contracts";
import { naiveConsistency, naiveIncludes } from "../../packages/kernel/src/merkle/testing/naive-tree.ts";

/** Checks proofs as a third party would: from their text and a verifier key, by docs/formats/log.md alone. */

export interface CheckedCheckpoint {
  readonly origin: string;
  readonly size: number;
  readonly root: Buffer;
}

/** Throws unless the note is signed by the key. */
export function checkCheckpoint(note: string, verifierKey: string): CheckedCheckpoint {
  const [text = "", signatures = "", ...more] = note.split("\n\n");
  assert.equal(more.length, 0);
  // The last part is base64 and may hold more of them.
  const [, name = "", id = "", encoded = ""] = /^([^+]*)\+([^+]*)\+(.*)$/.exec(verifierKey) ?? [];
  const signed = signatures.split("\n").find((line) => line.startsWith(`— ${name} `));
  const bytes = Buffer.from(signed?.split(" ")[2] ?? "", "base64");
  assert.equal(bytes.subarray(0, 4).toString("hex"), id, "another key signed");
  const key = Buffer.from(encoded, "base64");
  assert.equal(key[0], 1);
  const publicKey = createPublicKey({
    key: Buffer.concat([Buffer.from("302a300506032b6570032100", "hex"), key.subarray(1)]),
    format: "der",
    type: "spki",
  });
  assert.ok(verify(null, Buffer.from(`${text}\n`), publicKey, bytes.subarray(4)), "the signature is not good");
  const [origin = "", size = "", root = ""] = text.split("\n");
  assert.equal(origin, name);
  return { origin, size: Number(size), root: Buffer.from(root, "base64") };
}

/** The encoded record that the proof shows to be in the log. */
export function checkInclusion(proof: string, verifierKey: string): Buffer {
  const end = proof.indexOf("\n\n");
  const [format, extra = "", index = "", ...path] = proof.slice(0, end).split("\n");
  assert.equal(format, "c2sp.org/tlog-proof@v1");
  const { size, root } = checkCheckpoint(proof.slice(end + 2), verifierKey);
  const record = Buffer.from(extra.replace(/^extra /, ""), "base64");
  const hashes = path.map((line) => Buffer.from(line, "base64"));
  const place = Number(index.replace(/^index /, ""));
  assert.ok(naiveIncludes(hashRecord(record), place, size, hashes, root), "the path leads elsewhere");
  return record;
}

/** Throws unless the proof is the one that RFC 6962 defines for these very records. */
export function checkConsistency(proof: string, verifierKey: string, recordHashes: readonly Uint8Array[]): void {
  const parts = proof.split("\n\n");
  assert.equal(parts.length, 5);
  const [head = "", olderText, olderSignatures, newerText, newerSignatures = ""] = parts;
  const [format, ...path] = head.split("\n");
  assert.equal(format, "narthex/log-consistency/v1");
  const older = checkCheckpoint(`${olderText}\n\n${olderSignatures}\n`, verifierKey);
  const newer = checkCheckpoint(`${newerText}\n\n${newerSignatures}`, verifierKey);
  const expected = naiveConsistency(older.size, recordHashes.slice(0, newer.size));
  assert.deepEqual(
    path,
    expected.map((hash) => Buffer.from(hash).toString("base64")),
  );
}
