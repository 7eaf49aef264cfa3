import { BodyWriter, type MeterGlobals } from "./body-writer.ts";
import { ByteSink } from "./byte-sink.ts";
import { ByteSource } from "./byte-source.ts";
import { canonicalizeNans } from "./canonical-nan.ts";
import { ControlStack } from "./control-stack.ts";
import { FunctionLocals } from "./function-locals.ts";
import { Rejection } from "./meter-reason.ts";
import type { ModuleShape } from "./module-shape.ts";
import { OperandStack } from "./operand-stack.ts";
import { rejectedType } from "./read-limits.ts";
import { EXTERNREF, FUNCREF, isValueType, V128 } from "./value-type.ts";

/** The state of rewriting a module. Shared by all functions, so that nothing is allocated per function. */
export class RewriteState {
  readonly module: ModuleShape;
  readonly allowSimd: boolean;
  /** Types for which a call through a table may reach the host and return any NaN. */
  readonly hostTypes: ReadonlySet<number>;
  readonly source: ByteSource;
  readonly writer: BodyWriter;
  readonly operands = new OperandStack();
  readonly controls = new ControlStack();
  readonly locals = new FunctionLocals();
  /** For the part before a body that is known only after the body. */
  readonly header = new ByteSink(256);
  /** Whether the function calls others, and therefore counts toward the depth. */
  hasCalls = false;
  /** The largest number of parameters and results of a call, which take stack slots in addition to the operands. */
  maxPassed = 0;
  /** Whether the current place is unreachable. */
  isUnreachable = false;
  /** Number of open blocks that began in unreachable code. */
  unreachableBlocks = 0;
  usesSimd = false;
  usesFloats = false;
  /** The original has been copied up to here. */
  #copied = 0;

  constructor(
    module: ModuleShape,
    globals: MeterGlobals,
    { allowSimd, hostTypes }: { readonly allowSimd: boolean; readonly hostTypes: ReadonlySet<number> },
  ) {
    this.module = module;
    this.allowSimd = allowSimd;
    this.hostTypes = hostTypes;
    this.source = new ByteSource(module.bytes);
    this.writer = new BodyWriter(globals);
  }

  beginFunction(): void {
    this.writer.reset(this.locals.count);
    this.operands.reset();
    this.controls.size = 0;
    this.#copied = this.source.at;
    this.hasCalls = false;
    this.maxPassed = 0;
    this.isUnreachable = false;
  }

  /** Copies the original up to here, before code is inserted. */
  copyUpTo(at: number): void {
    this.writer.sink.copy(this.source.bytes, this.#copied, at);
    this.#copied = at;
  }

  /** Drops the original up to here. */
  omitUpTo(at: number): void {
    this.#copied = at;
  }

  /** Charges the instruction at `at`, as part of the current run or as the first of a new one. */
  charge(at: number, cost: number): void {
    if (!this.writer.isInRun) {
      this.copyUpTo(at);
      this.writer.beginRun();
    }
    this.writer.addCost(cost);
  }

  /** Canonicalizes the top operands before the instruction at `at`. */
  canonicalizeTop(at: number, count: number): void {
    if (this.operands.looseBelow <= this.operands.size - count) return;
    this.copyUpTo(at);
    canonicalizeNans(this.writer, this.operands, count);
  }

  /** Restores, before the instruction at `at`, the state that a call left stale. */
  beforeJoin(at: number): void {
    if (!this.writer.isStale) return;
    this.copyUpTo(at);
    this.writer.beforeJoin();
  }

  /** Marks the code up to the end of the block as unreachable. */
  markUnreachable(): void {
    this.copyUpTo(this.source.at);
    this.writer.endRun();
    this.isUnreachable = true;
    this.unreachableBlocks = 0;
  }

  /** Reads alignment and offset. Bit 6 of the alignment means that a memory index follows. */
  memoryArgument(at: number): void {
    if (this.source.u32() >= 0x40) throw new Rejection("multi-memory", at);
    this.source.skipNumber();
  }

  memoryIndex(at: number): void {
    if (this.source.byte() !== 0) throw new Rejection("multi-memory", at);
  }

  /**
   * Reads the type of a typed `select`.
   *
   * SECURITY: V8 accepts types here that are longer than a byte. A reader that skips fewer bytes than V8 would
   * interpret the rest as instructions and miss the actual ones after it.
   */
  selectedType(at: number): void {
    const count = this.source.u32();
    const type = this.source.byte();
    if (count !== 1) throw new Rejection("invalid", at, "a select has other than one type");
    if (!isValueType(type)) throw rejectedType(type, at);
    if (type === V128 && !this.allowSimd) throw new Rejection("simd", at);
  }

  referenceType(at: number): number {
    const type = this.source.byte();
    if (type !== FUNCREF && type !== EXTERNREF) throw rejectedType(type, at);
    return type;
  }
}
