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

/** Where the rewriting of a module stands. One for all functions: nothing is made anew for each of them. */
export class RewriteState {
  readonly module: ModuleShape;
  readonly allowSimd: boolean;
  /** Types by which a call through a table may reach the host, and get any NaN from it. */
  readonly hostTypes: ReadonlySet<number>;
  readonly source: ByteSource;
  readonly writer: BodyWriter;
  readonly operands = new OperandStack();
  readonly controls = new ControlStack();
  readonly locals = new FunctionLocals();
  /** For what stands before a body but is known only after it. */
  readonly header = new ByteSink(256);
  /** Whether the function calls others, and is not counted by itself. */
  hasCalls = false;
  /** The most parameters and results of a call, which have a place on the stack besides the operands. */
  maxPassed = 0;
  /** Whether no path leads here. */
  isUnreachable = false;
  /** Blocks that began where it was dead. */
  unreachableBlocks = 0;
  usesSimd = false;
  usesFloats = false;
  /** Up to here the original was copied. */
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

  /** Copies the original up to here, because something is to be put in. */
  copyUpTo(at: number): void {
    this.writer.sink.copy(this.source.bytes, this.#copied, at);
    this.#copied = at;
  }

  /** The original up to here is not copied. */
  omitUpTo(at: number): void {
    this.#copied = at;
  }

  /** Charges the instruction at `at`, with the run it is in or as the first of a new one. */
  charge(at: number, cost: number): void {
    if (!this.writer.isInRun) {
      this.copyUpTo(at);
      this.writer.beginRun();
    }
    this.writer.addCost(cost);
  }

  /** Fixes the bits of the top operands before the instruction at `at`. */
  canonicalizeTop(at: number, count: number): void {
    if (this.operands.looseBelow <= this.operands.size - count) return;
    this.copyUpTo(at);
    canonicalizeNans(this.writer, this.operands, count);
  }

  /** Restores, before the instruction at `at`, what a call left stale. */
  beforeJoin(at: number): void {
    if (!this.writer.isStale) return;
    this.copyUpTo(at);
    this.writer.beforeJoin();
  }

  /** Up to the end of the block no path leads. */
  markUnreachable(): void {
    this.copyUpTo(this.source.at);
    this.writer.endRun();
    this.isUnreachable = true;
    this.unreachableBlocks = 0;
  }

  /** Alignment and offset. With bit 6 of the alignment, another memory is meant. */
  memoryArgument(at: number): void {
    if (this.source.u32() >= 0x40) throw new Rejection("multi-memory", at);
    this.source.skipNumber();
  }

  memoryIndex(at: number): void {
    if (this.source.byte() !== 0) throw new Rejection("multi-memory", at);
  }

  /**
   * The list of one type that a `select` may have. SECURITY: V8 takes types there that are longer than a byte; whoever
   * passes over less than V8 reads takes the rest for instructions, and does not see those that are behind it.
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
