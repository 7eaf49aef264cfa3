import { ByteSink } from "./byte-sink.ts";
import { I32, I64 } from "./value-type.ts";

const OPCODE = {
  unreachable: 0x00,
  if: 0x04,
  end: 0x0b,
  localGet: 0x20,
  localSet: 0x21,
  localTee: 0x22,
  globalGet: 0x23,
  globalSet: 0x24,
  i32Const: 0x41,
  i64Const: 0x42,
  i64LtS: 0x53,
  i32Sub: 0x6b,
  i32LtS: 0x48,
  i64Sub: 0x7d,
} as const;

const NO_RESULT = 0x40;
/** A cost always takes three bytes, because it is known only after its run. */
const MAX_RUN_COST = 0xfffff;

/** Indexes of the globals that the meter adds. */
export interface MeterGlobals {
  readonly fuel: number;
  readonly depth: number;
}

/**
 * Writes one function: parts copied from the original, with metering code between them.
 *
 * The fuel global is always up to date, but reading it back would make every loop wait for memory, so each function
 * keeps a copy in a local. After a call the local is stale, and so is the depth global; both are restored when they are
 * needed next.
 */
export class BodyWriter {
  readonly sink = new ByteSink(1 << 16);
  readonly #globals: MeterGlobals;
  #originalLocals = 0;
  #addedLocals: number[] = [];
  #temporaries = new Map<number, number[]>();
  #isFuelStale = true;
  #isDepthStale = false;
  #runAt = -1;
  #runCost = 0;
  /** The bytes of a charge for a function with this number of locals, without the cost. */
  readonly #charge = new Uint8Array(64);
  #chargeLength = 0;
  #chargeLocals = -1;

  constructor(globals: MeterGlobals) {
    this.#globals = globals;
  }

  reset(originalLocals: number): void {
    this.sink.at = 0;
    this.#originalLocals = originalLocals;
    this.#addedLocals.length = 0;
    this.#addedLocals.push(I64, I32);
    if (this.#temporaries.size > 0) this.#temporaries.clear();
    this.#prepareCharge();
    this.#isFuelStale = true;
    this.#isDepthStale = false;
    this.#runAt = -1;
    this.#runCost = 0;
  }

  /** Types of the added locals: fuel, depth and temporaries. */
  get addedLocals(): readonly number[] {
    return this.#addedLocals;
  }

  get isInRun(): boolean {
    return this.#runAt >= 0;
  }

  /** Whether a call left a local or global to restore. */
  get isStale(): boolean {
    return this.#isFuelStale || this.#isDepthStale;
  }

  get isDepthStale(): boolean {
    return this.#isDepthStale;
  }

  /** Begins a run of instructions that are charged together. Call before the first of them. */
  beginRun(): void {
    this.#runCost = 0;
    this.pushFuel();
    this.#runAt = this.sink.at + 1;
    this.sink.copy(this.#charge, 0, this.#chargeLength);
    this.#isFuelStale = false;
  }

  addCost(cost: number): void {
    this.#runCost += cost;
    if (this.#runCost > MAX_RUN_COST - 0x10000) this.endRun();
  }

  endRun(): void {
    if (this.#runAt < 0) return;
    const { bytes } = this.sink;
    bytes[this.#runAt] = (this.#runCost & 0x7f) | 0x80;
    bytes[this.#runAt + 1] = ((this.#runCost >> 7) & 0x7f) | 0x80;
    bytes[this.#runAt + 2] = (this.#runCost >> 14) & 0x3f;
    this.#runAt = -1;
  }

  pushFuel(): void {
    if (this.#isFuelStale) this.globalGet(this.#globals.fuel);
    else this.localGet(this.#originalLocals);
  }

  /** Subtracts the number on top from the fuel below it, and traps if the result is negative. */
  subtractFuel(): void {
    this.sink.byte(OPCODE.i64Sub);
    this.localTee(this.#originalLocals);
    this.globalSet(this.#globals.fuel);
    this.localGet(this.#originalLocals);
    this.#isFuelStale = false;
    this.sink.byte(OPCODE.i64Const);
    this.sink.byte(0);
    this.sink.byte(OPCODE.i64LtS);
    this.#trap();
  }

  afterCall(): void {
    this.#isFuelStale = true;
    this.#isDepthStale = true;
  }

  beforeCall(): void {
    if (!this.#isDepthStale) return;
    this.localGet(this.#originalLocals + 1);
    this.globalSet(this.#globals.depth);
    this.#isDepthStale = false;
  }

  /** Restores stale state where control paths join, so that it is the same on all of them. */
  beforeJoin(): void {
    this.beforeCall();
    if (!this.#isFuelStale) return;
    this.globalGet(this.#globals.fuel);
    this.localSet(this.#originalLocals);
    this.#isFuelStale = false;
  }

  /** After a join nothing is stale: every path restored it before. */
  afterJoin(): void {
    this.#isFuelStale = false;
    this.#isDepthStale = false;
  }

  /** If the i32 on top is not 0, sets the depth global to `mark` and traps. */
  trapIf(mark: number): void {
    this.sink.byte(OPCODE.if);
    this.sink.byte(NO_RESULT);
    this.sink.byte(OPCODE.i32Const);
    this.sink.signed(mark);
    this.globalSet(this.#globals.depth);
    this.sink.byte(OPCODE.unreachable);
    this.sink.byte(OPCODE.end);
  }

  /** Writes the depth check before the body of a function that takes this many units of depth. */
  writeDepthTest(to: ByteSink, units: number): void {
    const depth = this.#originalLocals + 1;
    writeIndexed(to, OPCODE.globalGet, this.#globals.depth);
    to.byte(OPCODE.i32Const);
    to.signed(units);
    to.byte(OPCODE.i32Sub);
    writeIndexed(to, OPCODE.localTee, depth);
    writeIndexed(to, OPCODE.globalSet, this.#globals.depth);
    writeIndexed(to, OPCODE.localGet, depth);
    to.byte(OPCODE.i32Const);
    to.byte(0);
    to.byte(OPCODE.i32LtS);
    to.byte(OPCODE.if);
    to.byte(NO_RESULT);
    to.byte(OPCODE.unreachable);
    to.byte(OPCODE.end);
  }

  /** The index of a temporary local of this type. Different numbers give different locals. */
  temporary(type: number, number = 0): number {
    let indexes = this.#temporaries.get(type);
    if (indexes === undefined) this.#temporaries.set(type, (indexes = []));
    for (let missing = indexes.length; missing <= number; missing++) {
      indexes.push(this.#originalLocals + this.#addedLocals.length);
      this.#addedLocals.push(type);
    }
    return indexes[number] ?? 0;
  }

  localGet(index: number): void {
    writeIndexed(this.sink, OPCODE.localGet, index);
  }

  localSet(index: number): void {
    writeIndexed(this.sink, OPCODE.localSet, index);
  }

  localTee(index: number): void {
    writeIndexed(this.sink, OPCODE.localTee, index);
  }

  globalGet(index: number): void {
    writeIndexed(this.sink, OPCODE.globalGet, index);
  }

  globalSet(index: number): void {
    writeIndexed(this.sink, OPCODE.globalSet, index);
  }

  /** Prepares the code of a charge, which is the same in the whole function except for the cost. */
  #prepareCharge(): void {
    if (this.#originalLocals === this.#chargeLocals) return;
    this.#chargeLocals = this.#originalLocals;
    const { sink } = this;
    sink.byte(OPCODE.i64Const);
    sink.reserve(3);
    sink.at += 3;
    this.subtractFuel();
    this.#charge.set(sink.bytes.subarray(0, sink.at));
    this.#chargeLength = sink.at;
    sink.at = 0;
  }

  #trap(): void {
    this.sink.byte(OPCODE.if);
    this.sink.byte(NO_RESULT);
    this.sink.byte(OPCODE.unreachable);
    this.sink.byte(OPCODE.end);
  }
}

function writeIndexed(sink: ByteSink, opcode: number, index: number): void {
  if (index < 0x80) return sink.twoBytes(opcode, index);
  sink.byte(opcode);
  sink.u32(index);
}
