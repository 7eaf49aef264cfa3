import {
  BUNDLE_FORMAT,
  BUNDLE_LIMITS,
  BUNDLE_MAGIC,
  BUNDLE_PART_HEAD_BYTES,
  BUNDLE_PARTS,
  BUNDLE_TAIL_BYTES,
  createBlake3,
  HASH_SIZE,
  isJsonObject,
  parseJson,
} from "@narthex/contracts";
import { hashOfRecord, sameBytes } from "../ledger-hash.ts";
import { decodeRecord } from "../ledger-messages.ts";
import type { LedgerRow, LedgerSource } from "../ledger-source.ts";
import { Malformed } from "../wire/decode-canonical.ts";
import { type BundleFile, BundleFault } from "./bundle-file.ts";
import { type BundledBytes, BundleIndex } from "./bundle-index.ts";
import { PartReader } from "./bundle-parts.ts";

/** An opened bundle. Nothing in it is trusted: `verifyBundle` checks its contents. */
export interface Bundle {
  /** The session of the bundle; empty for a whole ledger. */
  readonly chain: string;
  readonly records: number;
  readonly source: LedgerSource;
  find(digest: Uint8Array): Promise<BundledBytes | undefined>;
  readonly tree: BundledTree;
  /** Whether every byte is as it was written. */
  isWhole(signal: AbortSignal | undefined): Promise<boolean>;
}

/** SPEC: docs/formats/bundle.md, "Log". */
export interface BundledTree {
  /** Announcements of keys, and the checkpoint: signed notes exactly as stored. */
  readonly keys: readonly string[];
  readonly checkpoint: string | undefined;
  /** Position of the sibling hashes of the records. */
  readonly tree: { readonly offset: number; readonly length: number };
  readonly file: BundleFile;
}

interface Tail {
  readonly bytesAt: number;
  readonly logAt: number;
  readonly indexAt: number;
  readonly records: number;
  readonly hash: Uint8Array;
  /** Offset of the payload. */
  readonly at: number;
}

const CHUNK_BYTES = 1024 * 1024;
const strictText = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** Opens an untrusted bundle. Throws a BundleFault if the file is not a bundle. */
export async function openBundle(file: BundleFile): Promise<Bundle> {
  const tail = await readTail(file);
  const { chain, recordsAt } = await readHead(file);
  const index = await openIndex(file, tail);
  const log = await readTree(file, tail);
  if (tail.bytesAt < recordsAt) throw new BundleFault("its parts overlap");
  const source: LedgerSource = {
    isPartial: chain !== "",
    leavesOut: true,
    recordCount: () => Promise.resolve(tail.records),
    records: (from = 0) => readRecords(file, recordsAt, tail, { chain, from }),
    readFile: async (digest) => (await index.find(digest))?.stream(0, 0),
    // In the bundle of a whole ledger the records themselves give the root, so it has no tiles.
    ...(chain === "" && {
      log: { readCheckpoint: () => Promise.resolve(log.checkpoint), readTile: () => Promise.resolve(undefined) },
    }),
  };
  return {
    chain,
    records: tail.records,
    source,
    find: (digest) => index.find(digest),
    tree: log,
    isWhole: (signal) => isWhole(file, tail, signal),
  };
}

async function readTail(file: BundleFile): Promise<Tail> {
  const size = BUNDLE_PART_HEAD_BYTES + BUNDLE_TAIL_BYTES;
  const at = file.size - size;
  if (at < BUNDLE_MAGIC.length) throw new BundleFault("it is too short");
  const parts = new PartReader(file, at);
  const part = await parts.next();
  if (part.kind !== BUNDLE_PARTS.tail || part.length !== BUNDLE_TAIL_BYTES) throw new BundleFault("it has no end");
  const bytes = await file.read(part.offset, part.length);
  const view = new DataView(bytes.buffer, bytes.byteOffset);
  const [bytesAt, logAt, indexAt, records] = [0, 8, 16, 24].map((offset) => Number(view.getBigUint64(offset)));
  if (bytesAt === undefined || logAt === undefined || indexAt === undefined || records === undefined) {
    throw new BundleFault("it has no end");
  }
  if (!(bytesAt <= logAt && logAt <= indexAt && indexAt < at)) throw new BundleFault("its parts overlap");
  return { bytesAt, logAt, indexAt, records, hash: bytes.slice(-HASH_SIZE), at };
}

async function readHead(file: BundleFile): Promise<{ readonly chain: string; readonly recordsAt: number }> {
  const magic = await file.read(0, BUNDLE_MAGIC.length);
  if (Buffer.from(magic).toString("latin1") !== BUNDLE_MAGIC) throw new BundleFault("it does not begin like a bundle");
  const parts = new PartReader(file, BUNDLE_MAGIC.length);
  const part = await parts.next();
  if (part.kind !== BUNDLE_PARTS.head) throw new BundleFault("it has no head");
  const json = parseHead(await parts.payload(part));
  if (json["format"] !== BUNDLE_FORMAT) throw new BundleFault("it has another format than this version reads");
  const { chain } = json;
  if (typeof chain !== "string" || (chain !== "" && !/^ses_[a-z2-7]{20}$/.test(chain))) {
    throw new BundleFault("its head names no session");
  }
  return { chain, recordsAt: parts.position };
}

function parseHead(bytes: Uint8Array): { readonly [name: string]: unknown } {
  try {
    const json = parseJson(bytes);
    if (isJsonObject(json)) return json;
  } catch {
    // Reported below.
  }
  throw new BundleFault("its head is no JSON object");
}

async function openIndex(file: BundleFile, tail: Tail): Promise<BundleIndex> {
  const parts = new PartReader(file, tail.indexAt);
  const part = await parts.next();
  if (part.kind !== BUNDLE_PARTS.index || parts.position !== tail.at) throw new BundleFault("it has no index");
  return new BundleIndex(file, part.offset, part.length);
}

async function readTree(file: BundleFile, { logAt, indexAt }: Tail): Promise<BundledTree> {
  const parts = new PartReader(file, logAt);
  const keys: string[] = [];
  let checkpoint: string | undefined;
  let tree = { offset: logAt, length: 0 };
  while (parts.position < indexAt) {
    const part = await parts.next();
    if (part.kind === BUNDLE_PARTS.key && checkpoint === undefined && keys.length < BUNDLE_LIMITS.keys) {
      keys.push(noteText(await parts.payload(part)));
    } else if (part.kind === BUNDLE_PARTS.checkpoint && checkpoint === undefined) {
      checkpoint = noteText(await parts.payload(part));
    } else if (part.kind === BUNDLE_PARTS.tree && checkpoint !== undefined && tree.length === 0) {
      if (part.length > BUNDLE_LIMITS.treeBytes || part.length % HASH_SIZE !== 0) {
        throw new BundleFault("what stands beside its records is no list of hashes");
      }
      tree = { offset: part.offset, length: part.length };
    } else throw new BundleFault(`a part at ${part.offset} does not belong there`);
  }
  if (parts.position !== indexAt) throw new BundleFault("its parts overlap");
  return { keys, checkpoint, tree, file };
}

function noteText(bytes: Uint8Array): string {
  try {
    return strictText.decode(bytes);
  } catch {
    throw new BundleFault("a note in it is no text");
  }
}

async function* readRecords(
  file: BundleFile,
  recordsAt: number,
  { bytesAt, records }: Tail,
  { chain, from }: { readonly chain: string; readonly from: number },
): AsyncGenerator<LedgerRow> {
  const parts = new PartReader(file, recordsAt);
  let count = 0;
  while (parts.position < bytesAt) {
    const [record, content] = [await nextOf(parts, BUNDLE_PARTS.record), await nextOf(parts, BUNDLE_PARTS.content)];
    const row = rowOf(record, content);
    if (chain !== "" && row.chain !== chain && row.chain !== "") {
      throw new BundleFault("it holds a record of another session");
    }
    count++;
    if (row.index >= from || row.index < 0) yield row;
  }
  if (parts.position !== bytesAt) throw new BundleFault("its parts overlap");
  if (count !== records) throw new BundleFault(`it holds ${count} records and says that it holds ${records}`);
}

async function nextOf(parts: PartReader, kind: number): Promise<Uint8Array> {
  const part = await parts.next();
  if (part.kind !== kind) throw new BundleFault(`a part at ${part.offset} does not belong there`);
  return await parts.payload(part);
}

/** A bundle has no columns, so those of the row are taken from the record. */
function rowOf(record: Uint8Array, content: Uint8Array): LedgerRow {
  const decoded = decodeRecord(record);
  const hash = hashOfRecord(record);
  if (decoded instanceof Malformed) return { index: -1, chain: "", sequence: 0, hash, record, content };
  const { index, chain, sequence } = decoded;
  return { index, chain, sequence, hash, record, content };
}

async function isWhole(file: BundleFile, { at, hash }: Tail, signal: AbortSignal | undefined): Promise<boolean> {
  const hasher = createBlake3();
  for (let offset = 0; offset < at; offset += CHUNK_BYTES) {
    signal?.throwIfAborted();
    hasher.update(await file.read(offset, Math.min(CHUNK_BYTES, at - offset)));
  }
  return sameBytes(hasher.digest(), hash);
}
