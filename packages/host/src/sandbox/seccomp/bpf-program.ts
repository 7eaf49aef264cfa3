/**
 * Assembles a classic BPF program for seccomp: 8 bytes per instruction, forward jumps only.
 *
 * SECURITY: throws if a jump offset does not fit into its byte: the jump would end elsewhere and could allow a system
 * call.
 */
export class BpfProgram {
  readonly #instructions: Instruction[] = [];
  readonly #labels = new Map<string, number>();

  /** Loads 32 bits of `struct seccomp_data`. */
  load(offset: number): this {
    return this.#add({ code: LOAD_WORD, value: offset });
  }

  and(mask: number): this {
    return this.#add({ code: AND, value: mask });
  }

  /** Jumps to the label if the loaded value is equal, otherwise continues. */
  ifEqual(value: number, label: string): this {
    return this.#add({ code: JUMP_EQUAL, value, whenTrue: label });
  }

  ifNotEqual(value: number, label: string): this {
    return this.#add({ code: JUMP_EQUAL, value, whenFalse: label });
  }

  ifAtLeast(value: number, label: string): this {
    return this.#add({ code: JUMP_AT_LEAST, value, whenTrue: label });
  }

  ifAnyBit(mask: number, label: string): this {
    return this.#add({ code: JUMP_ANY_BIT, value: mask, whenTrue: label });
  }

  returnAction(action: number): this {
    return this.#add({ code: RETURN, value: action });
  }

  /** Defines a label that earlier instructions can jump to. */
  label(name: string): this {
    if (this.#labels.has(name)) throw new TypeError(`two places are called ${name}`);
    this.#labels.set(name, this.#instructions.length);
    return this;
  }

  encode(): Buffer {
    const bytes = Buffer.alloc(this.#instructions.length * INSTRUCTION_BYTES);
    this.#instructions.forEach(({ code, value, whenTrue, whenFalse }, index) => {
      const at = index * INSTRUCTION_BYTES;
      bytes.writeUInt16LE(code, at);
      bytes.writeUInt8(this.#distance(index, whenTrue), at + 2);
      bytes.writeUInt8(this.#distance(index, whenFalse), at + 3);
      bytes.writeUInt32LE(value >>> 0, at + 4);
    });
    return bytes;
  }

  #add(instruction: Instruction): this {
    this.#instructions.push(instruction);
    return this;
  }

  #distance(from: number, label: string | undefined): number {
    if (label === undefined) return 0;
    const target = this.#labels.get(label);
    if (target === undefined) throw new TypeError(`no place is called ${label}`);
    const distance = target - from - 1;
    if (distance < 0 || distance > MAX_JUMP)
      throw new RangeError(`the jump to ${label} is ${distance} instructions long`);
    return distance;
  }
}

interface Instruction {
  readonly code: number;
  readonly value: number;
  readonly whenTrue?: string;
  readonly whenFalse?: string;
}

const INSTRUCTION_BYTES = 8;
const MAX_JUMP = 255;
const LOAD_WORD = 0x20;
const AND = 0x54;
const JUMP_EQUAL = 0x15;
const JUMP_AT_LEAST = 0x35;
const JUMP_ANY_BIT = 0x45;
const RETURN = 0x06;
