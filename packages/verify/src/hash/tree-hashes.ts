import { HASH_SIZE, sha256 } from "@narthex/contracts";
import { FREE, type Sha256Lanes, sha256Lanes } from "./sha256-lanes.ts";

const leafInput = new Uint8Array(1 + HASH_SIZE);
const nodeInput = new Uint8Array(1 + 2 * HASH_SIZE).fill(1, 0, 1);

const LANES = 4;
/** For fewer hashes, compiling the lanes takes longer than hashing. */
const MIN_HASHES_FOR_LANES = 8192;
let hashed = 0;

/** SPEC: docs/formats/log.md, "The tree". */
export function leafHash(recordHash: Uint8Array): Uint8Array {
  leafInput.set(recordHash, 1);
  return sha256(leafInput);
}

export function nodeHash(left: Uint8Array, right: Uint8Array): Uint8Array {
  nodeInput.set(left, 1);
  nodeInput.set(right, 1 + HASH_SIZE);
  return sha256(nodeInput);
}

/** Replaces each record hash by its leaf hash, for at most one tile. */
export function hashLeaves(hashes: Uint8Array): void {
  const count = hashes.length / HASH_SIZE;
  const lanes = lanesFor(count);
  if (lanes === undefined) {
    for (let at = 0; at < hashes.length; at += HASH_SIZE) hashes.set(leafHash(hashes.subarray(at, at + HASH_SIZE)), at);
    return;
  }
  const memory = new Uint8Array(lanes.memory.buffer);
  memory.set(hashes, FREE);
  for (let first = 0; first < count; first += LANES) lanes.leaves(FREE + first * HASH_SIZE, FREE + first * HASH_SIZE);
  hashes.set(memory.subarray(FREE, FREE + hashes.length));
}

/** The root over a power of two of hashes, at most one tile. Overwrites the input. */
export function perfectRoot(hashes: Uint8Array): Uint8Array {
  const width = hashes.length / HASH_SIZE;
  const lanes = lanesFor(width);
  if (lanes !== undefined) return rootByLanes(hashes, lanes);
  for (let count = width; count > 1; count /= 2) {
    for (let i = 0; i < count / 2; i++) {
      const at = 2 * i * HASH_SIZE;
      const node = nodeHash(hashes.subarray(at, at + HASH_SIZE), hashes.subarray(at + HASH_SIZE, at + 2 * HASH_SIZE));
      hashes.set(node, i * HASH_SIZE);
    }
  }
  return hashes.slice(0, HASH_SIZE);
}

function rootByLanes(hashes: Uint8Array, lanes: Sha256Lanes): Uint8Array {
  const memory = new Uint8Array(lanes.memory.buffer);
  memory.set(hashes, FREE);
  for (let count = hashes.length / HASH_SIZE; count > 1; count /= 2) {
    // Lanes without a pair write to addresses that are not read again.
    for (let i = 0; i < count / 2; i += LANES) lanes.nodes(FREE + 2 * i * HASH_SIZE, FREE + i * HASH_SIZE);
  }
  return memory.slice(FREE, FREE + HASH_SIZE);
}

function lanesFor(count: number): Sha256Lanes | undefined {
  hashed += count;
  return hashed < MIN_HASHES_FOR_LANES || count < LANES ? undefined : sha256Lanes();
}
