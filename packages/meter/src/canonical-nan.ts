import type { BodyWriter } from "./body-writer.ts";
import type { OperandStack } from "./operand-stack.ts";
import { F32, F64, LOOSE } from "./value-type.ts";

const SELECT = 0x1b;
const CONST = { [F32]: 0x43, [F64]: 0x44 } as const;
const EQUAL = { [F32]: 0x5b, [F64]: 0x61 } as const;
/** Quiet, positive, without payload. */
const NAN_BYTES = { [F32]: [0, 0, 0xc0, 0x7f], [F64]: [0, 0, 0, 0, 0, 0, 0xf8, 0x7f] } as const;

/**
 * Canonicalizes the top `count` operands before their bits become observable. The specification does not define which
 * NaN arithmetic returns, and machines differ; it is replaced by the canonical one, which is always among those
 * allowed. A NaN that was loaded, reinterpreted or written as a constant has the same bits on every machine, and keeps
 * them.
 *
 * INVARIANT: locals, globals, memory, parameters, results and branch operands never have loose bits.
 */
export function canonicalizeNans(writer: BodyWriter, operands: OperandStack, count: number): void {
  const { types, size } = operands;
  const lowest = size - count;
  if (operands.looseBelow <= lowest) return;
  let first = lowest;
  while (first < size && ((types[first] ?? 0) & LOOSE) === 0) first++;
  for (let index = size - 1; index > first; index--) writer.localSet(temporaryFor(writer, types, index, first));
  for (let index = first; index < size; index++) {
    const type = types[index] ?? 0;
    if (index > first) writer.localGet(temporaryFor(writer, types, index, first));
    if ((type & LOOSE) === 0) continue;
    types[index] = type & ~LOOSE;
    canonicalizeTopNan(writer, (type & ~LOOSE) === F32 ? F32 : F64);
  }
  operands.looseBelow = lowest;
}

/** Temporary 0 of each type is reserved for `canonicalizeTopNan`. */
function temporaryFor(writer: BodyWriter, types: Uint8Array, index: number, first: number): number {
  return writer.temporary((types[index] ?? 0) & ~LOOSE, index - first);
}

/** x -> x == x ? x : NaN */
function canonicalizeTopNan(writer: BodyWriter, type: typeof F32 | typeof F64): void {
  const temporary = writer.temporary(type);
  writer.localTee(temporary);
  writer.sink.byte(CONST[type]);
  for (const byte of NAN_BYTES[type]) writer.sink.byte(byte);
  writer.localGet(temporary);
  writer.localGet(temporary);
  writer.sink.byte(EQUAL[type]);
  writer.sink.byte(SELECT);
}
