import { LOOSE } from "./value-type.ts";

/** The types of the operands at one place of a function. V8 has checked them; this only tracks them. */
export class OperandStack {
  types = new Uint8Array(1024);
  size = 0;
  /** The largest size since `reset`. */
  maxSize = 0;
  /** No operand at this height or above has loose bits. */
  looseBelow = 0;

  reset(): void {
    this.size = 0;
    this.maxSize = 0;
    this.looseBelow = 0;
  }

  push(type: number): void {
    const size = this.size + 1;
    if (size > this.types.length) this.#grow(size);
    this.types[this.size] = type;
    this.size = size;
    if (size > this.maxSize) this.maxSize = size;
    if ((type & LOOSE) !== 0) this.looseBelow = Math.max(this.looseBelow, size);
  }

  pushAll(types: Uint8Array): void {
    const size = this.size + types.length;
    if (size > this.types.length) this.#grow(size);
    if (types.length === 1) this.types[this.size] = types[0] ?? 0;
    else if (types.length > 1) this.types.set(types, this.size);
    this.size = size;
    if (size > this.maxSize) this.maxSize = size;
  }

  /** Truncates the stack to this size. */
  cut(size: number): void {
    this.size = size;
    if (this.looseBelow > size) this.looseBelow = size;
  }

  /** The type of an operand, counted from the top. */
  peek(below: number): number {
    return this.types[this.size - 1 - below] ?? 0;
  }

  #grow(size: number): void {
    const larger = new Uint8Array(Math.max(size, this.types.length * 2));
    larger.set(this.types.subarray(0, this.size));
    this.types = larger;
  }
}
