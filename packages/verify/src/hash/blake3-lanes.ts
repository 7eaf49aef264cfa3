import { transpose } from "./transpose-lanes.ts";
import {
  type Code,
  add,
  addVector,
  andVector,
  call,
  compileCode,
  constant,
  getLocal,
  isEqual,
  isLess,
  loadUnaligned,
  loadVector,
  loadWord,
  or,
  shuffleBytes,
  repeat,
  rotateRight,
  select,
  setLocal,
  shiftLeft,
  splat,
  startCode,
  storeUnaligned,
  storeVector,
  subtract,
  xorVector,
} from "./wasm-code.ts";

/** BLAKE3 of four short inputs at once, one in each lane of a vector. Memory layout, from address 0 on: */
export const LANES = {
  /** Four words: the address of each input. */
  inputs: 0,
  /** Four words: the length of its last block. */
  lastLengths: 16,
  /** Four words: the address for its hash of 32 bytes. */
  outputs: 32,
  /** Four words: for commitments, the addresses of the digests; those of the nonces are at `inputs`. */
  digests: 48,
  /** The tag of 32 bytes that precedes the nonce. */
  commitmentTag: 64,
  /** From here on the memory is the caller's. Up to 64 bytes after an input are read, too. */
  free: 1024,
} as const;

/** Maximum input size: 1024 bytes, which is one chunk. */
export const MAX_LANE_BYTES = 1024;

export interface Blake3Lanes {
  readonly memory: { readonly buffer: ArrayBuffer };
  /**
   * Hashes the inputs named at the start of the memory. All have this many blocks of 64 bytes, counting an incomplete
   * last one.
   */
  hash(blocks: number): void;
  /** BLAKE3(tag, nonce, digest). */
  commit(): void;
}

const LENGTHS = 96;
const MASKS = 128;
const CHAIN = 256;
const WORDS = 384;

const IV = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];
const PERMUTATION = [2, 6, 3, 10, 7, 0, 4, 13, 1, 11, 12, 5, 9, 14, 15, 8];
const CHUNK_START = 1;
const CHUNK_END = 2;
const ROOT = 8;
const BLOCK_BYTES = 64;

/** Undefined if vector instructions are not available. */
export function createBlake3Lanes(memoryPages: number): Blake3Lanes | undefined {
  try {
    const module = modules.get(memoryPages) ?? compile(memoryPages);
    modules.set(memoryPages, module);
    const lanes = startCode(module) as Blake3Lanes;
    new Uint8Array(lanes.memory.buffer).fill(0xff, MASKS, MASKS + BLOCK_BYTES);
    return lanes;
  } catch {
    return undefined;
  }
}

/** Cached, because creating and compiling a module takes longer than reading a small ledger. */
const modules = new Map<number, object>();

function compile(memoryPages: number): object {
  const functions = [
    { parameters: 1, integers: 0, vectors: 16, code: compressCode() },
    { exportedAs: "hash", parameters: 1, integers: 2, vectors: 8, code: hashCode() },
    { exportedAs: "commit", parameters: 0, integers: 3, vectors: 8, code: commitCode() },
  ];
  return compileCode(functions, memoryPages);
}

/** Function 0, with the block's flags: compresses the words into the chaining values. */
function compressCode(): Code {
  const state = (n: number): number => 1 + n;
  const code: Code[] = [];
  for (let i = 0; i < 8; i++) code.push(constant(0), loadVector(CHAIN + 16 * i), setLocal(state(i)));
  for (let i = 0; i < 4; i++) code.push(constant(IV[i] ?? 0), splat, setLocal(state(8 + i)));
  for (const counter of [12, 13]) code.push(constant(0), splat, setLocal(state(counter)));
  code.push(constant(0), loadVector(LENGTHS), setLocal(state(14)), getLocal(0), splat, setLocal(state(15)));
  let words = PERMUTATION.map((_, i) => i);
  for (let round = 0; round < 7; round++) {
    QUARTERS.forEach(([a, b, c, d], i) => {
      const [x = 0, y = 0] = words.slice(2 * i);
      code.push(mix([state(a), state(b), state(c), state(d)], x, y));
    });
    words = PERMUTATION.map((from) => words[from] ?? 0);
  }
  for (let i = 0; i < 8; i++) {
    code.push(constant(0), getLocal(state(i)), getLocal(state(i + 8)), xorVector, storeVector(CHAIN + 16 * i));
  }
  return code;
}

type Four = readonly [number, number, number, number];

const QUARTERS: readonly Four[] = [
  [0, 4, 8, 12],
  [1, 5, 9, 13],
  [2, 6, 10, 14],
  [3, 7, 11, 15],
  [0, 5, 10, 15],
  [1, 6, 11, 12],
  [2, 7, 8, 13],
  [3, 4, 9, 14],
];

function mix([a, b, c, d]: Four, x: number, y: number): Code {
  const addWord = (word: number): Code => [
    [getLocal(a), getLocal(b), addVector],
    [constant(0), loadVector(WORDS + 16 * word), addVector, setLocal(a)],
  ];
  const turn = (target: number, other: number, rotate: Code): Code => [
    [getLocal(target), getLocal(other), xorVector, setLocal(target)],
    [rotate, setLocal(target)],
  ];
  const addTo = (target: number, other: number): Code => [
    [getLocal(target), getLocal(other), addVector, setLocal(target)],
  ];
  return [
    [addWord(x), turn(d, a, rotateBytes(d, 2)), addTo(c, d), turn(b, c, rotateRight(getLocal(b), 12))],
    [addWord(y), turn(d, a, rotateBytes(d, 1)), addTo(c, d), turn(b, c, rotateRight(getLocal(b), 7))],
  ];
}

/** Rotates to the right. */
function rotateBytes(local: number, bytes: number): Code {
  const from = Array.from({ length: 16 }, (_, i) => (i & ~3) | ((i + bytes) & 3));
  return [getLocal(local), getLocal(local), shuffleBytes(from)];
}

/** Parameter 0: number of blocks. Local 1: the current block, 2: an address; vectors from 3 on. */
function hashCode(): Code {
  const blocks = getLocal(0);
  const block = getLocal(1);
  const isLast = [block, constant(1), add, blocks, isEqual];
  const flags = [
    [constant(CHUNK_START), constant(0), block, constant(0), isEqual, select],
    [constant(CHUNK_END | ROOT), constant(0), isLast, select, or],
  ];
  const offset = [block, constant(6), shiftLeft];
  const body = [
    // 64 in every lane, except for the last block, whose length is that of the input's rest.
    [constant(0), constant(BLOCK_BYTES), splat, constant(0), loadVector(LANES.lastLengths)],
    [block, constant(1), add, blocks, isLess, select, storeVector(LENGTHS)],
    [0, 1, 2, 3].flatMap((part) => loadPart(part, LANES.inputs, offset, 16 * part)),
    [flags, call(0)],
    [block, constant(1), add, setLocal(1), block, blocks, isLess],
  ];
  return [startChain(), repeat(body), storeChain()];
}

function commitCode(): Code {
  const tag = Array.from({ length: 8 }, (_, i) => [
    [constant(0), constant(0), loadWord(LANES.commitmentTag + 4 * i), splat],
    storeVector(WORDS + 16 * i),
  ]).flat();
  const nothing = Array.from({ length: 8 }, (_, i) => [
    [constant(0), constant(0), splat, storeVector(WORDS + 16 * (8 + i))],
  ]).flat();
  const lengths = (bytes: number): Code => [[constant(0), constant(bytes), splat, storeVector(LENGTHS)]];
  return [
    [startChain(), lengths(BLOCK_BYTES), tag],
    loadPart(2, LANES.inputs, constant(0), 0),
    loadPart(3, LANES.inputs, constant(0), 16),
    [constant(CHUNK_START), call(0), lengths(32)],
    loadPart(0, LANES.digests, constant(0), 0),
    loadPart(1, LANES.digests, constant(0), 16),
    [nothing, constant(CHUNK_END | ROOT), call(0), storeChain()],
  ];
}

const FIRST_VECTOR = 3;

/** Loads words 4n to 4n + 3 of a block for all lanes; bytes after an input's end count as zero. */
function loadPart(part: number, pointers: number, offset: Code, within: number): Code {
  const loads = [0, 1, 2, 3].flatMap((lane) => [
    [constant(0), loadWord(pointers + 4 * lane), offset, add, loadUnaligned(within)],
    [constant(BLOCK_BYTES), constant(0), loadWord(LENGTHS + 4 * lane), subtract],
    [loadUnaligned(MASKS + (part % 4) * 16), andVector, setLocal(FIRST_VECTOR + lane)],
  ]);
  return [
    loads,
    transpose(FIRST_VECTOR, (word, value) => [[constant(0), value, storeVector(WORDS + 16 * (4 * part + word))]]),
  ];
}

function startChain(): Code {
  return IV.flatMap((word, i) => [constant(0), constant(word), splat, storeVector(CHAIN + 16 * i)]);
}

function storeChain(): Code {
  return [0, 1].flatMap((half) => [
    [0, 1, 2, 3].flatMap((word) => [
      [constant(0), loadVector(CHAIN + 16 * (4 * half + word)), setLocal(FIRST_VECTOR + word)],
    ]),
    transpose(FIRST_VECTOR, (lane, value) => [
      [constant(0), loadWord(LANES.outputs + 4 * lane), value, storeUnaligned(16 * half)],
    ]),
  ]);
}
