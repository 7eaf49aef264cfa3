import type { Signature } from "./value-type.ts";

export const BLOCK = 0x02;
export const LOOP = 0x03;
export const IF = 0x04;
export const ELSE = 0x05;
export const END = 0x0b;

const NO_SIGNATURE: Signature = { params: new Uint8Array(0), results: new Uint8Array(0) };

/** The open blocks at one place of a function, with the function itself at the bottom. */
export class ControlStack {
  #opcodes = new Uint8Array(64);
  #bases = new Int32Array(64);
  #isTarget = new Uint8Array(64);
  readonly #types: Signature[] = [];
  size = 0;

  push(opcode: number, type: Signature, base: number): void {
    if (this.size === this.#opcodes.length) this.#grow();
    this.#opcodes[this.size] = opcode;
    this.#bases[this.size] = base;
    this.#isTarget[this.size] = 0;
    this.#types[this.size] = type;
    this.size++;
  }

  /** The opcode of the innermost block. */
  get opcode(): number {
    return this.#opcodes[this.size - 1] ?? BLOCK;
  }

  set opcode(opcode: number) {
    this.#opcodes[this.size - 1] = opcode;
  }

  /** Number of operands below the innermost block, without its parameters. */
  get base(): number {
    return this.#bases[this.size - 1] ?? 0;
  }

  get type(): Signature {
    return this.#types[this.size - 1] ?? NO_SIGNATURE;
  }

  /** Whether a branch targets the end of the innermost block. */
  get isTarget(): boolean {
    return this.#opcodes[this.size - 1] !== LOOP && this.#isTarget[this.size - 1] === 1;
  }

  /** Records a branch and returns the number of operands it carries. */
  branch(label: number): number {
    const index = this.size - 1 - label;
    const type = this.#types[index];
    if (type === undefined) return 0;
    this.#isTarget[index] = 1;
    return (this.#opcodes[index] === LOOP ? type.params : type.results).length;
  }

  #grow(): void {
    const length = this.size * 2;
    this.#opcodes = enlarged(this.#opcodes, new Uint8Array(length));
    this.#isTarget = enlarged(this.#isTarget, new Uint8Array(length));
    this.#bases = enlarged(this.#bases, new Int32Array(length));
  }
}

function enlarged<T extends Uint8Array | Int32Array>(from: T, to: T): T {
  to.set(from);
  return to;
}
