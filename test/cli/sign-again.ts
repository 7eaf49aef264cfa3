import { createHash, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { create, fromBinary, hashRecord, type RecordMessage, RecordSchema, toBinary } from "@narthex/contracts";
import { rowsOf, updateRow } from "./tampered-home.ts";

interface ForgedKey {
  readonly privateKey: KeyObject;
  readonly text: string;
  readonly id: string;
}

/** Signs a home's log again with a key of one's own, from the first record on, as somebody does who can write all of the home. */
export async function signAgain(home: string): Promise<void> {
  const database = new DatabaseSync(join(home, "store", "records.db"));
  const hashes: Uint8Array[] = [];
  const heads = new Map<string, Uint8Array>();
  let key: ForgedKey | undefined;
  let note = "";
  for (const row of rowsOf(database)) {
    const message = fromBinary(RecordSchema, row.record);
    message.previousHash = new Uint8Array(heads.get(row.chain) ?? []);
    for (const { kind } of message.entries) {
      if (kind.case === "logKeyAnnounced") key = announce(kind.value, nameOf(kind.value.verifierKey));
      if (kind.case === "checkpointSigned" && key !== undefined) note = signCheckpoint(kind.value, hashes, key);
    }
    const record = toBinary(RecordSchema, create(RecordSchema, message));
    const hash = hashRecord(record);
    heads.set(row.chain, hash);
    hashes.push(hash);
    updateRow(database, row.idx, "record", record);
    updateRow(database, row.idx, "hash", hash);
  }
  database.close();
  await rm(join(home, "log", "tile"), { recursive: true });
  await writeFile(join(home, "log", "checkpoint"), note);
}

type EntryOf<K extends string> =
  Extract<RecordMessage["entries"][number]["kind"], { case: K }> extends { value: infer V } ? V : never;

function announce(value: EntryOf<"logKeyAnnounced">, name: string): ForgedKey {
  const { privateKey, publicKey } = generateKeyPairSync("ed25519");
  const typed = Buffer.concat([Buffer.of(1), publicKey.export({ format: "der", type: "spki" }).subarray(-32)]);
  const id = createHash("sha256").update(`${name}\n`).update(typed).digest("hex").slice(0, 8);
  const key = { privateKey, id, text: `${name}+${id}+${typed.toString("base64")}` };
  value.verifierKey = key.text;
  value.signature = signText(key, `narthex/log-key/v1\nnone\n${key.text}\n${value.treeSize}\n`);
  return key;
}

function signCheckpoint(value: EntryOf<"checkpointSigned">, hashes: readonly Uint8Array[], key: ForgedKey): string {
  const root = rootOf(hashes.slice(0, Number(value.treeSize)).map((hash) => sha256(0, hash)));
  const text = `${nameOf(key.text)}\n${value.treeSize}\n${root.toString("base64")}\n`;
  value.rootHash = new Uint8Array(root);
  value.keyId = key.id;
  value.signature = signText(key, text);
  const signed = Buffer.concat([Buffer.from(key.id, "hex"), value.signature]).toString("base64");
  return `${text}\n— ${nameOf(key.text)} ${signed}\n`;
}

function rootOf(leaves: readonly Buffer[]): Buffer {
  const [only] = leaves;
  if (only !== undefined && leaves.length === 1) return only;
  let split = 1;
  while (split * 2 < leaves.length) split *= 2;
  return sha256(1, rootOf(leaves.slice(0, split)), rootOf(leaves.slice(split)));
}

function sha256(tag: number, ...parts: readonly Uint8Array[]): Buffer {
  const hash = createHash("sha256").update(Buffer.of(tag));
  for (const part of parts) hash.update(part);
  return hash.digest();
}

function signText({ privateKey }: ForgedKey, text: string): Uint8Array<ArrayBuffer> {
  return new Uint8Array(sign(null, Buffer.from(text), privateKey));
}

function nameOf(verifierKey: string): string {
  return verifierKey.split("+")[0] ?? "";
}
