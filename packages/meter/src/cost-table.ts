/**
 * Part of replay: the usage of a call is recorded and must be reproducible. Increase this for any change of the costs
 * below, or of the code that the rewriter adds to a module. SPEC: docs/formats/wasm-meter.md
 */
export const METER_VERSION = 1;

/** Cost of instructions that are not listed here. */
export const PLAIN_COST = 1;

/** By opcode. */
export const COSTS: ReadonlyMap<number, number> = new Map([
  // Markers that do no work of their own.
  [0x01, 0], // nop
  [0x02, 0], // block
  [0x03, 0], // loop
  [0x05, 0], // else
  [0x0b, 0], // end
  [0x0e, 2], // br_table
  [0x10, 4], // call
  [0x11, 8], // call_indirect
  [0x25, 2], // table.get
  [0x26, 4], // table.set
  [0x40, 4096], // memory.grow
  ...[0x6d, 0x6e, 0x6f, 0x70].map((opcode) => [opcode, 8] as const), // i32 division and remainder
  ...[0x7f, 0x80, 0x81, 0x82].map((opcode) => [opcode, 12] as const), // i64 division and remainder
  [0x91, 6], // f32.sqrt
  [0x95, 4], // f32.div
  [0x9f, 8], // f64.sqrt
  [0xa3, 4], // f64.div
  [0xd2, 16], // ref.func
]);

/** By the number after the prefix 0xfc. Charges by length are added. */
export const BULK_COSTS: ReadonlyMap<number, number> = new Map([
  [0x08, 32], // memory.init
  [0x09, 8], // data.drop
  [0x0a, 32], // memory.copy
  [0x0b, 32], // memory.fill
  [0x0c, 64], // table.init
  [0x0d, 8], // elem.drop
  [0x0e, 64], // table.copy
  [0x0f, 512], // table.grow
  [0x11, 64], // table.fill
]);

/** Moving 2 to this power bytes costs 1. */
export const BYTES_PER_UNIT_LOG2 = 3;

/** A page of memory costs 2 to this power: the operating system clears it on first access. */
export const PAGE_COST_LOG2 = 13;

/** A call of an imported function, in addition to the charges of the host for its work. */
export const IMPORT_CALL_COST = 64;

/** 2 to this power parameters and locals, which a call has to initialize, cost 1. */
export const SLOTS_PER_UNIT_LOG2 = 2;

/**
 * A function takes one unit of call depth, plus one for every full group of this many parameters, locals and operands.
 */
export const SLOTS_PER_DEPTH = 16;

/** Functions that call no others and have at most this many slots do not count toward the depth. */
export const LEAF_SLOTS = 64;
