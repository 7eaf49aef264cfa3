import { readBlockType } from "./read-block-type.ts";
import { KIND, KIND_MEMORY } from "./opcode-table.ts";
import { skipBulkImmediates } from "./rewrite-bulk.ts";
import { skipSimd } from "./rewrite-simd.ts";
import type { RewriteState } from "./rewrite-state.ts";

/** Skips the immediates of an opcode in unreachable code, which is dropped. Rejects unknown opcodes even there. */
export function skipImmediates(state: RewriteState, opcode: number, at: number): void {
  const { source } = state;
  if (KIND[opcode] === KIND_MEMORY) return state.memoryArgument(at);
  switch (opcode) {
    case 0x02: // block
    case 0x03: // loop
    case 0x04: // if
      readBlockType(state);
      return;
    case 0x0c: // br
    case 0x0d: // br_if
    case 0x10: // call
    case 0x20: // local.get
    case 0x21: // local.set
    case 0x22: // local.tee
    case 0x23: // global.get
    case 0x24: // global.set
    case 0x25: // table.get
    case 0x26: // table.set
    case 0x41: // i32.const
    case 0x42: // i64.const
    case 0xd2: // ref.func
      return source.skipNumber();
    case 0x0e: // br_table
      for (let count = source.u32(); count >= 0; count--) source.skipNumber();
      return;
    case 0x11: // call_indirect
      source.skipNumber();
      return source.skipNumber();
    case 0x1c: // select with a type
      return state.selectedType(at);
    case 0x3f: // memory.size
    case 0x40: // memory.grow
      return state.memoryIndex(at);
    case 0x43: // f32.const
      return source.skip(4);
    case 0x44: // f64.const
      return source.skip(8);
    case 0xd0: // ref.null
      state.referenceType(at);
      return;
    case 0xfc:
      return skipBulkImmediates(state, source.u32(), at);
    case 0xfd:
      skipSimd(state, at);
  }
}
