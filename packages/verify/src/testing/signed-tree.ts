import { createPrivateKey, createPublicKey, type KeyObject, sign } from "node:crypto";
import { blake3, sha256, toHex, utf8 } from "@narthex/contracts";
import type { TreeFiles } from "../ledger-source.ts";
import type { LedgerBuilder } from "./ledger-builder.ts";

const ORIGIN = "narthex/log_aaaaaaaaaaaaaaaaaaaa";
const PRIVATE_KEY_HEAD = Buffer.from("302e020100300506032b657004220420", "hex");

export interface TestKey {
  readonly privateKey: KeyObject;
  readonly id: string;
  readonly text: string;
}

/** Returns the same key for the same seed. */
export function testKey(seed: string, origin = ORIGIN): TestKey {
  const der = Buffer.concat([PRIVATE_KEY_HEAD, blake3(utf8(seed))]);
  const privateKey = createPrivateKey({ key: der, format: "der", type: "pkcs8" });
  const publicKey = createPublicKey(privateKey).export({ format: "der", type: "spki" }).subarray(-32);
  const typed = Buffer.concat([Buffer.of(1), publicKey]);
  const id = toHex(sha256(Buffer.concat([utf8(`${origin}\n`), typed]))).slice(0, 8);
  return { privateKey, id, text: `${origin}+${id}+${typed.toString("base64")}` };
}

/** Announces keys and signs checkpoints in a ledger under construction, as docs/formats/log.md specifies. */
export class SignedTree {
  readonly ledger: LedgerBuilder;
  readonly origin: string;
  key: TestKey | undefined;
  lastSize = 0;

  constructor(ledger: LedgerBuilder, origin = ORIGIN) {
    this.ledger = ledger;
    this.origin = origin;
  }

  /** With `lost`, the previous key does not sign the announcement. */
  announce(key: TestKey, { lost = false } = {}): void {
    const previous = this.key;
    const text = `narthex/log-key/v1\n${previous?.text ?? "none"}\n${key.text}\n${this.lastSize}\n`;
    const value = {
      verifierKey: key.text,
      previousVerifierKey: previous?.text ?? "",
      treeSize: this.lastSize,
      signature: signText(key, text),
      previousSignature: previous === undefined || lost ? new Uint8Array(0) : signText(previous, text),
    };
    this.ledger.append({ chain: "system", entries: [{ case: "logKeyAnnounced", value }] });
    this.key = key;
  }

  /** Signs a checkpoint over all records so far, or over fewer; returns the note. */
  checkpoint(size = this.ledger.rows.length, key = this.key): string {
    if (key === undefined) throw new Error("no key was announced");
    const root = rootOf(this.ledger.rows.slice(0, size).map((row) => row.hash));
    const text = `${this.origin}\n${size}\n${Buffer.from(root).toString("base64")}\n`;
    const signature = signText(key, text);
    const value = { treeSize: size, rootHash: root, keyId: key.id, signature };
    this.ledger.append({ chain: "system", entries: [{ case: "checkpointSigned", value }] });
    this.lastSize = size;
    const signed = Buffer.concat([Buffer.from(key.id, "hex"), signature]).toString("base64");
    return `${text}\n— ${this.origin} ${signed}\n`;
  }
}

/** The files of a Merkle tree as they are after a checkpoint. */
export function treeFiles(
  ledger: LedgerBuilder,
  note: string,
  tiles = tilesOf(ledger, Number(note.split("\n")[1])),
): TreeFiles {
  return {
    readCheckpoint: async () => note,
    readTile: async (level, number, hashes) => tiles.get(`${level}/${number}/${hashes}`),
  };
}

/** The tiles by level, number and width. */
export function tilesOf(ledger: LedgerBuilder, size: number): Map<string, Uint8Array> {
  const tiles = new Map<string, Uint8Array>();
  let hashes = ledger.rows.slice(0, size).map((row) => leafOf(row.hash));
  for (let level = 0; hashes.length > 0; level++) {
    const above: Uint8Array[] = [];
    for (let from = 0; from < hashes.length; from += 256) {
      const some = hashes.slice(from, from + 256);
      tiles.set(`${level}/${from / 256}/${some.length}`, new Uint8Array(Buffer.concat(some)));
      if (some.length === 256) above.push(treeOf(some));
    }
    hashes = above;
  }
  return tiles;
}

/** A direct implementation of RFC 6962, section 2.1. */
export function rootOf(recordHashes: readonly Uint8Array[]): Uint8Array {
  return recordHashes.length === 0 ? sha256(new Uint8Array(0)) : treeOf(recordHashes.map(leafOf));
}

function treeOf(leaves: readonly Uint8Array[]): Uint8Array {
  const [only] = leaves;
  if (only !== undefined && leaves.length === 1) return only;
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  return sha256(Buffer.concat([Buffer.of(1), treeOf(leaves.slice(0, split)), treeOf(leaves.slice(split))]));
}

function leafOf(recordHash: Uint8Array): Uint8Array {
  return sha256(Buffer.concat([Buffer.of(0), recordHash]));
}

function signText(key: TestKey, text: string): Uint8Array {
  return new Uint8Array(sign(null, utf8(text), key.privateKey));
}
