import { closeSync, fstatSync, openSync, readSync } from "node:fs";
import { endianness } from "node:os";

/** SPEC: layouts of a WAL and of the WAL-index next to it, from SQLite's "WAL-mode File Format". */
const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const LITTLE_ENDIAN_WAL = 0x377f0682;
const BIG_ENDIAN_WAL = 0x377f0683;
const INDEX_HEADER_BYTES = 48;
const INDEX_VERSION = 3_007_000;

/** State of the WAL as its last user recorded it in the WAL-index, always after the counted frames were durable. */
interface WalIndexInfo {
  readonly frames: number;
  /** How many of these frames are in the database as well. */
  readonly moved: number;
  readonly salt: Buffer;
}

/**
 * SQLite reads a WAL up to its first bad frame and silently drops the rest: right for the torn end after a power cut,
 * wrong for a WAL that was damaged or truncated later. Returns the problem of a closed database's WAL, or undefined.
 *
 * INVARIANT: call it before SQLite opens the database, because opening discards the recorded state.
 */
export function findLostWal(database: string): string | undefined {
  const noted = readFileWith(`${database}-shm`, readWalIndex);
  if (noted === undefined) return undefined;
  const whole = readFileWith(`${database}-wal`, (log) => countWholeFrames(log, noted)) ?? 0;
  if (whole === "another log" || whole >= noted.frames) return undefined;
  // A WAL whose frames are all in the database may be missing. Part of one would replace newer pages with old ones.
  if (whole === 0 && noted.moved >= noted.frames) return undefined;
  return `its log has ${whole} of ${noted.frames} parts that were written`;
}

function readWalIndex(file: number): WalIndexInfo | undefined {
  const bytes = readAt(file, 0, 2 * INDEX_HEADER_BYTES + 4);
  const [first, second] = [
    bytes.subarray(0, INDEX_HEADER_BYTES),
    bytes.subarray(INDEX_HEADER_BYTES).subarray(0, INDEX_HEADER_BYTES),
  ];
  // Numbers are in the machine's byte order; while a header is being changed, it differs from its copy.
  const read = endianness() === "LE" ? bytes.readUInt32LE.bind(bytes) : bytes.readUInt32BE.bind(bytes);
  if (bytes.length < 2 * INDEX_HEADER_BYTES + 4 || !first.equals(second) || read(0) !== INDEX_VERSION) return undefined;
  return { frames: read(16), moved: read(2 * INDEX_HEADER_BYTES), salt: bytes.subarray(32, 40) };
}

/** Counts the frames from the start that have valid checksums, at most as many as were recorded. */
function countWholeFrames(log: number, noted: WalIndexInfo): number | "another log" {
  const header = readAt(log, 0, WAL_HEADER_BYTES);
  if (header.length < WAL_HEADER_BYTES) return 0;
  const kind = header.readUInt32BE(0);
  if (kind !== LITTLE_ENDIAN_WAL && kind !== BIG_ENDIAN_WAL) return 0;
  const sum = new WalChecksum(kind === LITTLE_ENDIAN_WAL);
  sum.add(header.subarray(0, 24));
  if (!sum.equals(header, 24)) return 0;
  // After a power cut the WAL-index may be older than the WAL, which was restarted meanwhile.
  if (!header.subarray(16, 24).equals(noted.salt)) return "another log";
  const frameBytes = FRAME_HEADER_BYTES + header.readUInt32BE(8);
  for (let frame = 0; frame < noted.frames; frame++) {
    const bytes = readAt(log, WAL_HEADER_BYTES + frame * frameBytes, frameBytes);
    if (bytes.length < frameBytes || !bytes.subarray(8, 16).equals(noted.salt)) return frame;
    sum.add(bytes.subarray(0, 8));
    sum.add(bytes.subarray(FRAME_HEADER_BYTES));
    if (!sum.equals(bytes, 16)) return frame;
  }
  return noted.frames;
}

/** Cumulative checksum of a WAL: the checksum of each frame covers all frames before it. */
class WalChecksum {
  readonly #isLittleEndian: boolean;
  #first = 0;
  #second = 0;

  constructor(isLittleEndian: boolean) {
    this.#isLittleEndian = isLittleEndian;
  }

  add(bytes: Buffer): void {
    const words = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    for (let at = 0; at < bytes.length; at += 8) {
      this.#first = (this.#first + words.getUint32(at, this.#isLittleEndian) + this.#second) >>> 0;
      this.#second = (this.#second + words.getUint32(at + 4, this.#isLittleEndian) + this.#first) >>> 0;
    }
  }

  equals(bytes: Buffer, at: number): boolean {
    return bytes.readUInt32BE(at) === this.#first && bytes.readUInt32BE(at + 4) === this.#second;
  }
}

/** Returns undefined if the file is missing or empty. */
function readFileWith<T>(path: string, read: (file: number) => T): T | undefined {
  let file: number;
  try {
    file = openSync(path, "r");
  } catch (error) {
    if (error instanceof Error && "code" in error && error.code === "ENOENT") return undefined;
    throw error;
  }
  try {
    return fstatSync(file).size === 0 ? undefined : read(file);
  } finally {
    closeSync(file);
  }
}

/** Returns fewer bytes if the file ends before. */
function readAt(file: number, position: number, length: number): Buffer {
  const bytes = Buffer.alloc(length);
  let filled = 0;
  for (let read = -1; read !== 0 && filled < length; filled += read) {
    read = readSync(file, bytes, filled, length - filled, position + filled);
  }
  return bytes.subarray(0, filled);
}
