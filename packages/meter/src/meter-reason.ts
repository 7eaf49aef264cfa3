/** Why a module is rejected. The list is closed: reports and tools can rely on its keys. */
export const METER_REASONS = {
  "not-a-module": "the bytes do not start like a WebAssembly module",
  component: "a component, which is another encoding than a core module",
  invalid: "not valid by the WebAssembly specification, as V8 reads it",
  "import-not-granted": "an import that was not granted",
  "imported-memory": "a memory from outside, which has another owner",
  "imported-table": "a table from outside, which has another owner",
  "shared-memory": "a shared memory, for threads",
  threads: "an atomic instruction, for threads",
  memory64: "a memory or table with 64-bit addresses",
  "multi-memory": "more than one memory",
  "memory-above-cap": "more memory at the start than is allowed at all",
  "table-above-cap": "more table entries at the start than are allowed at all",
  "too-many-tables": "more tables than any tool needs",
  "too-many-parts": "more types, exports or custom sections than any tool needs",
  exceptions: "a tag or an instruction for exceptions",
  "tail-calls": "a tail call",
  "garbage-collection": "a type or an instruction for garbage collection",
  "function-references": "a typed reference, or an instruction for one",
  simd: "SIMD, in a tool that may not have it",
  "relaxed-simd": "relaxed SIMD, whose results differ from machine to machine",
  "extended-const": "a computed constant",
  "unknown-section": "a section that is not known",
  "unknown-opcode": "an instruction that is not known",
  "reserved-name": "an export whose name is kept for the meter",
  "too-large": "metering makes it too large",
  "not-metered": "the metered module is not valid any more, because the original is too close to a limit of V8",
} as const;

export type MeterReason = keyof typeof METER_REASONS;

/** Thrown while a module is read and caught by `meterModule`; never leaves the package. */
export class Rejection extends Error {
  override readonly name = "Rejection";
  readonly reason: MeterReason;
  readonly offset: number;

  constructor(reason: MeterReason, offset: number, detail?: string) {
    super(detail === undefined ? METER_REASONS[reason] : `${METER_REASONS[reason]}: ${detail}`);
    this.reason = reason;
    this.offset = offset;
  }
}
