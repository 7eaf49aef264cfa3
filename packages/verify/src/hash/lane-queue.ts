import { type Blake3Lanes, createBlake3Lanes, LANES, MAX_LANE_BYTES } from "./blake3-lanes.ts";

const LANE_COUNT = 4;
const BLOCK_BYTES = 64;
const WASM_PAGE_BYTES = 64 * 1024;
const MAX_BLOCKS = MAX_LANE_BYTES / BLOCK_BYTES;
const COMMITMENTS = 0;
/**
 * Fields of a waiting input: its address, the address for its hash, and the length of its last block or the address of
 * its digest.
 */
const FIELDS = 3;

/** Queues inputs with the same number of blocks until four can be hashed together. */
export class LaneQueue {
  /** Contains both the inputs and the computed hashes. */
  readonly memory: Uint8Array;
  readonly #lanes: Blake3Lanes;
  readonly #words: Int32Array;
  readonly #waiting = new Int32Array((MAX_BLOCKS + 1) * LANE_COUNT * FIELDS);
  readonly #counts = new Uint8Array(MAX_BLOCKS + 1);

  private constructor(lanes: Blake3Lanes, commitmentTag: Uint8Array) {
    this.#lanes = lanes;
    this.memory = new Uint8Array(lanes.memory.buffer);
    this.#words = new Int32Array(lanes.memory.buffer);
    this.memory.set(commitmentTag, LANES.commitmentTag);
  }

  /** Undefined if vector instructions are not available. */
  static open(memoryBytes: number, commitmentTag: Uint8Array): LaneQueue | undefined {
    const lanes = createBlake3Lanes(Math.ceil(memoryBytes / WASM_PAGE_BYTES));
    return lanes && new LaneQueue(lanes, commitmentTag);
  }

  /** Queues an input of at most 1024 bytes. */
  hash(input: number, length: number, output: number): void {
    const blocks = length === 0 ? 1 : (length + BLOCK_BYTES - 1) >>> 6;
    this.#add(blocks, input, output, length - (blocks - 1) * BLOCK_BYTES);
  }

  commit(nonce: number, digest: number, output: number): void {
    this.#add(COMMITMENTS, nonce, output, digest);
  }

  /** Computes the remaining hashes. */
  finish(): void {
    for (let kind = 0; kind <= MAX_BLOCKS; kind++) {
      const count = this.#counts[kind] ?? 0;
      if (count === 0) continue;
      const first = kind * LANE_COUNT * FIELDS;
      // Unused lanes repeat the work of the first one.
      for (let lane = count; lane < LANE_COUNT; lane++) {
        this.#waiting.copyWithin(first + lane * FIELDS, first, first + FIELDS);
      }
      this.#run(kind);
    }
  }

  #add(kind: number, input: number, output: number, third: number): void {
    const lane = this.#counts[kind] ?? 0;
    const at = (kind * LANE_COUNT + lane) * FIELDS;
    this.#waiting[at] = input;
    this.#waiting[at + 1] = output;
    this.#waiting[at + 2] = third;
    this.#counts[kind] = lane + 1;
    if (lane + 1 === LANE_COUNT) this.#run(kind);
  }

  #run(kind: number): void {
    const thirds = (kind === COMMITMENTS ? LANES.digests : LANES.lastLengths) / 4;
    for (let lane = 0; lane < LANE_COUNT; lane++) {
      const at = (kind * LANE_COUNT + lane) * FIELDS;
      this.#words[LANES.inputs / 4 + lane] = this.#waiting[at] ?? 0;
      this.#words[LANES.outputs / 4 + lane] = this.#waiting[at + 1] ?? 0;
      this.#words[thirds + lane] = this.#waiting[at + 2] ?? 0;
    }
    this.#counts[kind] = 0;
    if (kind === COMMITMENTS) this.#lanes.commit();
    else this.#lanes.hash(kind);
  }
}
