import type { ByteSource } from "./byte-source.ts";
import { Rejection } from "./meter-reason.ts";
import { rejectedType } from "./read-limits.ts";
import { EXTERNREF, FUNCREF } from "./value-type.ts";

const END = 0x0b;

/** Skips a constant expression of one instruction. */
export function skipConstant(source: ByteSource): void {
  const at = source.at;
  skipInstruction(source.byte(), source);
  if (source.byte() !== END) throw new Rejection("extended-const", at);
}

function skipInstruction(opcode: number, source: ByteSource): void {
  switch (opcode) {
    case 0x23: // global.get
    case 0x41: // i32.const
    case 0x42: // i64.const
    case 0xd2: // ref.func
      return source.skipNumber();
    case 0x43: // f32.const
      return source.skip(4);
    case 0x44: // f64.const
      return source.skip(8);
    case 0xd0: // ref.null
      return readReferenceType(source);
    case 0xfd: // v128.const, or an invalid opcode
      source.skipNumber();
      return source.skip(16);
    default:
      throw new Rejection(opcode === 0xfb ? "garbage-collection" : "extended-const", source.at);
  }
}

function readReferenceType(source: ByteSource): void {
  const at = source.at;
  const type = source.byte();
  if (type !== FUNCREF && type !== EXTERNREF) throw rejectedType(type, at);
}

const IS_PASSIVE_OR_DECLARED = 1;
const HAS_TABLE_OR_IS_DECLARED = 2;
const HAS_EXPRESSIONS = 4;

/** Reads a segment of table entries, of any of the eight kinds. Returns their number. */
export function readElements(source: ByteSource): number {
  const flags = source.u32();
  const isActive = (flags & IS_PASSIVE_OR_DECLARED) === 0;
  const hasTable = isActive && (flags & HAS_TABLE_OR_IS_DECLARED) !== 0;
  if (hasTable) source.u32();
  if (isActive) skipConstant(source);
  const hasKind = !isActive || hasTable;
  if ((flags & HAS_EXPRESSIONS) === 0) {
    // Without expressions the only kind of element is a function, 0.
    if (hasKind) source.skip(1);
    const count = source.u32();
    for (let entry = 0; entry < count; entry++) source.u32();
    return count;
  }
  if (hasKind) readReferenceType(source);
  const count = source.u32();
  for (let entry = 0; entry < count; entry++) skipConstant(source);
  return count;
}
