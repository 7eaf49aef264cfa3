import {
  BUNDLE_FORMAT,
  BUNDLE_MAGIC,
  BUNDLE_PART_HEAD_BYTES,
  BUNDLE_PARTS,
  BUNDLE_TAIL_BYTES,
  type Blake3Stream,
  canonicalJsonBytes,
  ContentPlace,
  ContentRole,
  createBlake3,
  KernelError,
  toHex,
  utf8,
} from "@narthex/contracts";
import type { ReplayContent, ReplayRow } from "../replay/replay-source.ts";
import { type BundledContent, bundleContent } from "./bundle-content.ts";
import { BundleIndex } from "./bundle-index.ts";
import { type BundledTree, siblingRanges } from "./bundled-tree.ts";

/** The data of a bundle. */
export interface BundleSource {
  /** A session's id; empty for the whole ledger. */
  readonly chain: string;
  /** Records in ascending order; only those of `chain`, unless it is empty. */
  rows(): AsyncIterable<ReplayRow>;
  findContent(digest: Uint8Array): Promise<ReplayContent | undefined>;
  /** Undefined if no checkpoint is signed yet. */
  readonly tree: BundledTree | undefined;
}

/** Roles whose content is never looked up by digest. */
const UNINDEXED_ROLES: ReadonlySet<ContentRole> = new Set([
  ContentRole.PROOF,
  ContentRole.POLICY_REQUEST,
  ContentRole.ERROR,
  ContentRole.FILES,
]);

/** Writes a bundle: the same ledger always gives the same bytes. SPEC: docs/formats/bundle.md. */
export async function* writeBundle(source: BundleSource): AsyncGenerator<Uint8Array> {
  const draft = new BundleDraft();
  yield draft.plain(utf8(BUNDLE_MAGIC));
  yield* draft.part(BUNDLE_PARTS.head, canonicalJsonBytes({ chain: source.chain, format: BUNDLE_FORMAT }));
  const wanted = new Map<string, Uint8Array>();
  const indexes: number[] = [];
  for await (const row of source.rows()) {
    indexes.push(row.index);
    const content = bundleContent(row.record, row.content);
    yield* draft.part(BUNDLE_PARTS.record, row.record);
    draft.noteRows(content);
    yield* draft.part(BUNDLE_PARTS.content, content.bytes);
    for (const digest of content.externalDigests) wanted.set(toHex(digest), digest);
  }
  if (indexes.length === 0) throw new KernelError("RECORD_NOT_FOUND", "there is no record that could be exported");
  const bytesAt = draft.size;
  yield* writeContent(draft, wanted, source);
  const logAt = draft.size;
  if (source.tree !== undefined) yield* writeTree(draft, source.tree, source.chain === "" ? [] : indexes);
  const indexAt = draft.size;
  yield* draft.part(BUNDLE_PARTS.index, draft.index.encode());
  yield draft.tail([bytesAt, logAt, indexAt, indexes.length]);
}

/**
 * Writes content that is in no row of the bundle, in ascending order of digest. Skips content that was erased
 * meanwhile.
 */
async function* writeContent(
  draft: BundleDraft,
  wanted: ReadonlyMap<string, Uint8Array>,
  source: BundleSource,
): AsyncGenerator<Uint8Array> {
  for (const [, digest] of [...wanted].sort(([one], [other]) => (one < other ? -1 : 1))) {
    if (draft.index.has(digest)) continue;
    const content = await source.findContent(digest);
    if (content === undefined) continue;
    yield draft.head(BUNDLE_PARTS.bytes, digest.length + content.size);
    yield draft.plain(digest);
    draft.index.add(digest, draft.size, content.size);
    const end = draft.size + content.size;
    for await (const chunk of content.stream(0, 0)) yield draft.plain(chunk);
    if (draft.size !== end) throw new KernelError("CONTENT_DAMAGED", `the content ${toHex(digest)} has another size`);
  }
}

/**
 * Writes keys, checkpoint and tree. The records of a whole ledger give the root themselves; those of one session need
 * the hashes of the ranges beside them.
 */
async function* writeTree(
  draft: BundleDraft,
  log: BundledTree,
  indexes: readonly number[],
): AsyncGenerator<Uint8Array> {
  for (const key of log.keys) yield* draft.part(BUNDLE_PARTS.key, utf8(key));
  yield* draft.part(BUNDLE_PARTS.checkpoint, utf8(log.checkpoint));
  const proven = indexes.filter((index) => index < log.treeSize);
  if (proven.length === 0) return;
  const ranges = siblingRanges(proven, log.treeSize);
  yield draft.head(BUNDLE_PARTS.tree, ranges.length * 32);
  for (const range of ranges) yield draft.plain(await log.rangeHash(range));
}

/** State of a bundle while it is written. */
class BundleDraft {
  readonly index = new BundleIndex();
  size = 0;
  readonly #hasher: Blake3Stream = createBlake3();

  plain(bytes: Uint8Array): Uint8Array {
    this.#hasher.update(bytes);
    this.size += bytes.length;
    return bytes;
  }

  head(kind: number, length: number): Uint8Array {
    return this.plain(partHead(kind, length));
  }

  *part(kind: number, payload: Uint8Array): Generator<Uint8Array> {
    yield this.head(kind, payload.length);
    yield this.plain(payload);
  }

  /** Indexes the content items of the next part. */
  noteRows({ bytes, items }: BundledContent): void {
    const start = this.size + BUNDLE_PART_HEAD_BYTES;
    let from = 0;
    for (const { place, role, digest, data } of items) {
      if (place !== ContentPlace.ROW) continue;
      const at =
        data.length === 0 ? from : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).indexOf(data, from);
      if (at < 0) throw new KernelError("CONTENT_DAMAGED", "content is not in its own record");
      if (!UNINDEXED_ROLES.has(role)) this.index.add(digest, start + at, data.length);
      from = at + data.length;
    }
  }

  tail(numbers: readonly number[]): Uint8Array {
    const tail = new Uint8Array(BUNDLE_PART_HEAD_BYTES + BUNDLE_TAIL_BYTES);
    tail.set(partHead(BUNDLE_PARTS.tail, BUNDLE_TAIL_BYTES));
    const view = new DataView(tail.buffer, BUNDLE_PART_HEAD_BYTES);
    for (const [place, number] of numbers.entries()) view.setBigUint64(place * 8, BigInt(number));
    tail.set(this.#hasher.digest(), tail.length - 32);
    return tail;
  }
}

function partHead(kind: number, length: number): Uint8Array {
  const head = new Uint8Array(BUNDLE_PART_HEAD_BYTES);
  head[0] = kind;
  new DataView(head.buffer).setBigUint64(1, BigInt(length));
  return head;
}
