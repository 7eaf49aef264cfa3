import type { ByteSource } from "./byte-source.ts";
import { Rejection } from "./meter-reason.ts";
import { rejectedType } from "./read-limits.ts";
import { isFloat, isValueType, type Signature, V128 } from "./value-type.ts";

/** V8's limit; a module with more locals is invalid. */
const MAX_LOCALS = 50_000;

/** Parameters and locals of one function. */
export class FunctionLocals {
  /** By index. */
  types = new Uint8Array(256);
  count = 0;
  /** Number of stack slots of 8 bytes that they take. */
  slots = 0;
  /** Whether any function so far declared a float local. */
  hasFloats = false;
  /** Number of declared groups, and their position. */
  groups = 0;
  groupsStart = 0;
  groupsEnd = 0;

  read(source: ByteSource, { params }: Signature, options: { readonly allowSimd: boolean }): void {
    this.#require(params.length);
    this.types.set(params);
    this.count = params.length;
    this.slots = params.length;
    for (const type of params) if (type === V128) this.slots++;
    this.groups = source.u32();
    this.groupsStart = source.at;
    for (let group = 0; group < this.groups; group++) this.#readGroup(source, options.allowSimd);
    this.groupsEnd = source.at;
  }

  typeOf(index: number): number {
    return this.types[index] ?? 0;
  }

  #readGroup(source: ByteSource, allowSimd: boolean): void {
    const at = source.at;
    const count = source.u32();
    const type = source.byte();
    if (!isValueType(type)) throw rejectedType(type, at);
    if (type === V128 && !allowSimd) throw new Rejection("simd", at);
    if (isFloat(type)) this.hasFloats = true;
    const sum = this.count + count;
    if (sum > MAX_LOCALS) throw new Rejection("invalid", at, "too many locals");
    this.#require(sum);
    this.types.fill(type, this.count, sum);
    this.count = sum;
    this.slots += type === V128 ? 2 * count : count;
  }

  #require(count: number): void {
    if (count <= this.types.length) return;
    const larger = new Uint8Array(Math.max(count, this.types.length * 2));
    larger.set(this.types.subarray(0, this.count));
    this.types = larger;
  }
}
