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
  loadUnaligned,
  loadVector,
  orVector,
  shuffleBytes,
  rotateRight,
  setLocal,
  shiftLeftVector,
  shiftRightVector,
  splat,
  startCode,
  storeUnaligned,
  storeVector,
  xorVector,
} from "./wasm-code.ts";

/** SHA-256 of the leaves and nodes of a Merkle tree, four at once, one in each lane of a vector. */
export interface Sha256Lanes {
  readonly memory: { readonly buffer: ArrayBuffer };
  /** SHA-256(0x00, hash) of four consecutive hashes; `to` may equal `from`. */
  leaves(from: number, to: number): void;
  /** SHA-256(0x01, left, right) of four consecutive pairs of hashes; `to` must not be greater than `from`. */
  nodes(from: number, to: number): void;
}

/** The memory before this address is reserved for the code. */
export const FREE = 2048;

const CHAIN = 0;
const WORDS = 128;
const FIRST_VECTOR = 2;
const LEAF_BITS = 8 * 33;
const NODE_BITS = 8 * 65;
const END_OF_MESSAGE = 0x0080_0000;
const FIRST_CHAIN = [0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a, 0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19];
const ROUND_WORDS = [
  0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5, 0xd807aa98,
  0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174, 0xe49b69c1, 0xefbe4786,
  0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da, 0x983e5152, 0xa831c66d, 0xb00327c8,
  0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967, 0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13,
  0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85, 0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819,
  0xd6990624, 0xf40e3585, 0x106aa070, 0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a,
  0x5b9cca4f, 0x682e6ff3, 0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7,
  0xc67178f2,
];

let lanes: Sha256Lanes | "none" | undefined;

/** One shared instance, because hashing is synchronous. Undefined if vector instructions are not available. */
export function sha256Lanes(): Sha256Lanes | undefined {
  lanes ??= createLanes() ?? "none";
  return lanes === "none" ? undefined : lanes;
}

function createLanes(): Sha256Lanes | undefined {
  const functions = [
    { parameters: 0, integers: 0, vectors: 10, code: compressCode() },
    { exportedAs: "leaves", parameters: 2, integers: 0, vectors: 8, code: leavesCode() },
    { exportedAs: "nodes", parameters: 2, integers: 0, vectors: 8, code: nodesCode() },
  ];
  try {
    return startCode(compileCode(functions, 1)) as Sha256Lanes;
  } catch {
    return undefined;
  }
}

const word = (n: number): Code => [constant(0), loadVector(WORDS + 16 * n)];
const setWord = (n: number, value: Code): Code => [constant(0), value, storeVector(WORDS + 16 * n)];
const sameWord = (value: number): Code => [constant(value), splat];
/** Swaps the bytes of the words on the stack: memory is little-endian, SHA-256 big-endian. */
const swapBytes: Code = [sameWord(0), shuffleBytes([3, 2, 1, 0, 7, 6, 5, 4, 11, 10, 9, 8, 15, 14, 13, 12])];

/** Function 0: compresses the words into the chaining values. Locals 0 to 7 are a to h; 8 and 9 are sums. */
function compressCode(): Code {
  const code: Code[] = [];
  for (let n = 16; n < 64; n++) code.push(setWord(n, scheduledWord(n)));
  for (let n = 0; n < 8; n++) code.push(constant(0), loadVector(CHAIN + 16 * n), setLocal(n));
  // Renames the variables instead of moving all values by one.
  for (let round = 0; round < 64; round++) {
    const name = (n: number): number => (n - round + 64) % 8;
    code.push(roundCode([0, 1, 2, 3, 4, 5, 6, 7].map(name), round));
  }
  for (let n = 0; n < 8; n++) {
    const chained: Code = [constant(0), loadVector(CHAIN + 16 * n)];
    code.push(constant(0), chained, getLocal(n), addVector, storeVector(CHAIN + 16 * n));
  }
  return code;
}

function scheduledWord(n: number): Code {
  const small = (of: Code, [first, second, shift]: readonly [number, number, number]): Code => [
    [rotateRight(of, first), rotateRight(of, second), xorVector],
    [of, shiftRightVector(shift), xorVector],
  ];
  return [
    [word(n - 16), small(word(n - 15), [7, 18, 3]), addVector],
    [word(n - 7), addVector, small(word(n - 2), [17, 19, 10]), addVector],
  ];
}

function roundCode(names: readonly number[], round: number): Code {
  const [a, b, c, d, e, f, g, h] = names.map((name) => getLocal(name)) as [
    Code,
    Code,
    Code,
    Code,
    Code,
    Code,
    Code,
    Code,
  ];
  const [, , , dName = 0, , , , hName = 0] = names;
  const large = (of: Code, [first, second, third]: readonly [number, number, number]): Code => [
    [rotateRight(of, first), rotateRight(of, second), xorVector, rotateRight(of, third), xorVector],
  ];
  const choice = [g, e, f, g, xorVector, andVector, xorVector];
  const majority = [a, b, orVector, c, andVector, a, b, andVector, orVector];
  return [
    [h, large(e, [6, 11, 25]), addVector, choice, addVector],
    [sameWord(ROUND_WORDS[round] ?? 0), addVector, word(round), addVector, setLocal(8)],
    [large(a, [2, 13, 22]), majority, addVector, setLocal(9)],
    [d, getLocal(8), addVector, setLocal(dName), getLocal(8), getLocal(9), addVector, setLocal(hName)],
  ];
}

/** Parameters: the address of four hashes, and the address for their leaf hashes. */
function leavesCode(): Code {
  return [
    [startChain(), loadWords(0, 32, 0), loadWords(1, 32, 0), lastWords(8, 32, LEAF_BITS)],
    [call(0), storeChain()],
  ];
}

/** A message of 65 bytes has two blocks, the second of which contains one byte of it. */
function nodesCode(): Code {
  const parts = [0, 1, 2, 3].map((part) => loadWords(part, 64, 1));
  return [
    [startChain(), parts, call(0)],
    [lastWords(0, 64, NODE_BITS), call(0), storeChain()],
  ];
}

/** Loads words 4n to 4n + 3 of a block that starts with `firstByte`, followed by the bytes of each lane's input. */
function loadWords(part: number, laneBytes: number, firstByte: number): Code {
  // INVARIANT: the caller's addresses start after FREE, so there is a byte before them.
  const loads = loadLanes(16 * part - 1, laneBytes);
  const store = (n: number, value: Code): Code => {
    const first: Code = [value, sameWord(0x00ff_ffff), andVector, sameWord(firstByte << 24), orVector];
    return setWord(4 * part + n, part + n === 0 ? first : value);
  };
  return [loads, transpose(FIRST_VECTOR, store)];
}

/** The rest of a block from a word on: the last byte of each lane, the end mark of the message, and its length. */
function lastWords(from: number, laneBytes: number, bits: number): Code {
  const last = (n: number, value: Code): Code =>
    n === 3 ? setWord(from, [value, shiftLeftVector(24), sameWord(END_OF_MESSAGE), orVector]) : [];
  const zeros = Array.from({ length: 14 - from }, (_, n) => setWord(from + 1 + n, sameWord(0)));
  return [loadLanes(laneBytes - 16, laneBytes), transpose(FIRST_VECTOR, last), zeros, setWord(15, sameWord(bits))];
}

/** Loads 16 bytes of each lane's input as big-endian words. */
function loadLanes(offset: number, laneBytes: number): Code {
  return [0, 1, 2, 3].flatMap((lane) => [
    [getLocal(0), constant(offset + laneBytes * lane), add, loadUnaligned(0), swapBytes],
    setLocal(FIRST_VECTOR + lane),
  ]);
}

function startChain(): Code {
  return FIRST_CHAIN.flatMap((value, n) => [constant(0), sameWord(value), storeVector(CHAIN + 16 * n)]);
}

function storeChain(): Code {
  return [0, 1].flatMap((half) => [
    [0, 1, 2, 3].map((n) => [constant(0), loadVector(CHAIN + 16 * (4 * half + n)), setLocal(FIRST_VECTOR + n)]),
    transpose(FIRST_VECTOR, (lane, value) => [[getLocal(1), value, swapBytes, storeUnaligned(32 * lane + 16 * half)]]),
  ]);
}
