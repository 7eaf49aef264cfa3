import { nameFromBytes } from "../programs/file-name.ts";

const HEADER_BYTES = 12;
/** Size of an entry's fields before its hash. */
const FACTS_BYTES = 40;
const MODE_AT = 24;
const TYPE_MASK = 0o170000;
const GITLINK = 0o160000;
const EXTENDED = 0x4000;
const NAME_MASK = 0x0fff;
/** Git could not check out a longer entry. */
const MAX_ENTRY_BYTES = 64 * 1024;
const EMPTY = Buffer.alloc(0);
/**
 * Hash sizes of SHA-1 and SHA-256. Both are tried: the configuration states which one applies, but an agent may have
 * written it.
 */
const HASH_BYTES = [20, 32];

/**
 * Finds the gitlinks of an index: directories of a work tree that are repositories of their own. Stops at content that
 * git would reject. SPEC: gitformat-index(5), versions 2 to 4.
 *
 * SECURITY: an index may have any size and content, so it is read in chunks.
 */
export async function readGitlinks(chunks: AsyncIterable<Buffer>): Promise<string[]> {
  const readers = HASH_BYTES.map((bytes) => new IndexReader(bytes));
  let reading = readers;
  for await (const chunk of chunks) {
    reading = reading.filter((reader) => reader.push(chunk));
    if (reading.length === 0) break;
  }
  return [...new Set(readers.flatMap(({ gitlinks }) => gitlinks))];
}

class IndexReader {
  readonly gitlinks: string[] = [];
  readonly #hashBytes: number;
  #held: Buffer = EMPTY;
  #version = 0;
  #left = 0;
  /** Name of the previous entry; in version 4 the next one shares a prefix with it. */
  #name: Buffer = EMPTY;

  constructor(hashBytes: number) {
    this.#hashBytes = hashBytes;
  }

  /** Returns false if no more entries can follow. */
  push(chunk: Buffer): boolean {
    const bytes = this.#held.length === 0 ? chunk : Buffer.concat([this.#held, chunk]);
    let at = 0;
    if (this.#version === 0) {
      if (bytes.length < HEADER_BYTES) return this.#hold(bytes);
      this.#version = bytes.readUInt32BE(4);
      this.#left = bytes.readUInt32BE(8);
      if (bytes.toString("latin1", 0, 4) !== "DIRC" || this.#version < 2 || this.#version > 4) return false;
      at = HEADER_BYTES;
    }
    for (; this.#left > 0; this.#left--) {
      const length = this.#read(bytes, at);
      if (length === undefined) return this.#hold(bytes.subarray(at));
      if (length === 0) return false;
      at += length;
    }
    return false;
  }

  #hold(bytes: Buffer): boolean {
    this.#held = Buffer.from(bytes);
    return bytes.length <= MAX_ENTRY_BYTES;
  }

  /** Returns the length of the entry that begins here; undefined if it is incomplete, 0 if it is invalid. */
  #read(bytes: Buffer, at: number): number | undefined {
    const flagsAt = at + FACTS_BYTES + this.#hashBytes;
    if (flagsAt + 4 > bytes.length) return undefined;
    const flags = bytes.readUInt16BE(flagsAt);
    const nameAt = flagsAt + ((flags & EXTENDED) !== 0 ? 4 : 2);
    const isGitlink = (bytes.readUInt32BE(at + MODE_AT) & TYPE_MASK) === GITLINK;
    const told = flags & NAME_MASK;
    if (this.#version === 4) return this.#readShortened(bytes, at, nameAt, told, isGitlink);
    const end = told < NAME_MASK ? nameAt + told : bytes.indexOf(0, nameAt);
    if (end === -1 || end > bytes.length) return undefined;
    if (isGitlink) this.#add(bytes.subarray(nameAt, end));
    const length = (end - at + 8) & ~7;
    return at + length > bytes.length ? this.#undo(isGitlink) : length;
  }

  #readShortened(bytes: Buffer, at: number, countAt: number, told: number, isGitlink: boolean): number | undefined {
    let next = countAt;
    let dropped = 0;
    for (let byte = 0x80; (byte & 0x80) !== 0; next++) {
      if (next >= bytes.length) return undefined;
      byte = bytes[next] ?? 0;
      dropped = (next === countAt ? 0 : (dropped + 1) * 128) + (byte & 0x7f);
      if (dropped > MAX_ENTRY_BYTES) return 0;
    }
    const kept = this.#name.length - dropped;
    if (kept < 0 || (told < NAME_MASK && told < kept)) return 0;
    const end = told < NAME_MASK ? next + told - kept : bytes.indexOf(0, next);
    if (end === -1 || end >= bytes.length) return undefined;
    this.#name = Buffer.concat([this.#name.subarray(0, kept), bytes.subarray(next, end)]);
    if (isGitlink) this.#add(this.#name);
    return end + 1 - at;
  }

  /** The entry is read again when more bytes are available. */
  #undo(isGitlink: boolean): undefined {
    if (isGitlink) this.gitlinks.pop();
  }

  #add(name: Buffer): void {
    const end = name.indexOf(0);
    this.gitlinks.push(nameFromBytes(end === -1 ? name : name.subarray(0, end)));
  }
}
