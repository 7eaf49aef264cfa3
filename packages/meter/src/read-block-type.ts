import { Rejection } from "./meter-reason.ts";
import type { RewriteState } from "./rewrite-state.ts";
import { EXTERNREF, F32, F64, FUNCREF, I32, I64, type Signature, V128 } from "./value-type.ts";

const NO_TYPES = new Uint8Array(0);
const NO_RESULT = 0x40;
/**
 * The sign bit of the last byte of a signed number. In the fifth byte another bit is the sign, and `u32` rejects a
 * number that has it set as too large.
 */
const SIGN_BIT = 0x40;
const MAX_BYTES = 5;
const EMPTY: Signature = { params: NO_TYPES, results: NO_TYPES };
const ONE_RESULT: ReadonlyMap<number, Signature> = new Map(
  [I32, I64, F32, F64, V128, FUNCREF, EXTERNREF].map((type) => [
    type,
    { params: NO_TYPES, results: new Uint8Array([type]) },
  ]),
);

export function readBlockType({ source, module, allowSimd }: RewriteState): Signature {
  const at = source.at;
  const first = source.bytes[at] ?? 0;
  if (first === NO_RESULT) {
    source.at++;
    return EMPTY;
  }
  // A negative number of one byte is a value type; all others are type indexes.
  if ((first & 0xc0) !== 0x40) {
    const type = module.types[source.u32()];
    // SECURITY: the number is signed. V8 reads a negative one in an overlong encoding as a value type.
    const isNegative = source.at - at < MAX_BYTES && ((source.bytes[source.at - 1] ?? 0) & SIGN_BIT) !== 0;
    if (type === undefined || isNegative) throw new Rejection("invalid", at, "a block has no type");
    return type;
  }
  const type = ONE_RESULT.get(first);
  if (type === undefined) throw new Rejection("garbage-collection", at);
  if (first === V128 && !allowSimd) throw new Rejection("simd", at);
  source.at++;
  return type;
}
