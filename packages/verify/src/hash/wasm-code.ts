/** A minimal assembler for WebAssembly, as far as hashing in lanes needs it. Code is bytes, in nested lists. */
export type Code = readonly (number | Code)[];

export interface WasmFunction {
  readonly exportedAs?: string;
  /** Number of i32 parameters; the function returns nothing. */
  readonly parameters: number;
  /** Additional locals: i32 first, then v128. */
  readonly integers: number;
  readonly vectors: number;
  readonly code: Code;
}

const I32 = 0x7f;
const V128 = 0x7b;
const EMPTY_BLOCK = 0x40;
const MAGIC = [0x00, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

export const getLocal = (local: number): Code => [0x20, unsigned(local)];
export const setLocal = (local: number): Code => [0x21, unsigned(local)];
export const constant = (value: number): Code => [0x41, signed(value)];
export const add: Code = [0x6a];
export const subtract: Code = [0x6b];
export const shiftLeft: Code = [0x74];
export const isEqual: Code = [0x46];
export const isLess: Code = [0x49];
export const or: Code = [0x72];
export const call = (callee: number): Code => [0x10, unsigned(callee)];
/** Loads the word at the address on the stack plus `offset`. */
export const loadWord = (offset: number): Code => [0x28, 2, unsigned(offset)];
/** Selects one of two values by a third. */
export const select: Code = [0x1b];
/** Repeats `body` as long as it leaves a nonzero number. */
export const repeat = (body: Code): Code => [0x03, EMPTY_BLOCK, body, 0x0d, 0, 0x0b];

export const loadVector = (offset: number): Code => [0xfd, 0x00, 4, unsigned(offset)];
/** Loads from an address that need not be a multiple of 16. */
export const loadUnaligned = (offset: number): Code => [0xfd, 0x00, 0, unsigned(offset)];
export const storeVector = (offset: number): Code => [0xfd, 0x0b, 4, unsigned(offset)];
export const storeUnaligned = (offset: number): Code => [0xfd, 0x0b, 0, unsigned(offset)];
export const splat: Code = [0xfd, 0x11];
export const andVector: Code = [0xfd, 0x4e];
export const orVector: Code = [0xfd, 0x50];
export const xorVector: Code = [0xfd, 0x51];
export const addVector: Code = [0xfd, 0xae, 0x01];
export const shiftLeftVector = (bits: number): Code => [constant(bits), 0xfd, 0xab, 0x01];
export const shiftRightVector = (bits: number): Code => [constant(bits), 0xfd, 0xad, 0x01];
/** Rotates each word of a vector to the right. */
export const rotateRight = (vector: Code, bits: number): Code => [
  [vector, shiftRightVector(bits)],
  [vector, shiftLeftVector(32 - bits), orVector],
];
/** Selects words of two vectors: 0 to 3 are those of the first, 4 to 7 those of the second. */
export const shuffleWords = (words: readonly number[]): Code =>
  shuffleBytes(words.flatMap((word) => [word * 4, word * 4 + 1, word * 4 + 2, word * 4 + 3]));
export const shuffleBytes = (bytes: readonly number[]): Code => [0xfd, 0x0d, bytes];

// Node has this global, but the type library without browser types does not.
declare const WebAssembly: {
  readonly Module: new (bytes: Uint8Array) => object;
  readonly Instance: new (module: object) => { readonly exports: unknown };
};

/** Compiles the functions to a module; throws if vector instructions are not available. */
export function compileCode(functions: readonly WasmFunction[], memoryPages: number): object {
  return new WebAssembly.Module(wasmModule(functions, memoryPages));
}

/** Creates a new instance and returns its exports. */
export function startCode(module: object): unknown {
  return new WebAssembly.Instance(module).exports;
}

/** Encodes a module that exports a memory of this many pages as `memory`. */
function wasmModule(functions: readonly WasmFunction[], memoryPages: number): Uint8Array<ArrayBuffer> {
  const types = functions.map(({ parameters }) => [0x60, parameters, ...repeated(I32, parameters), 0]);
  const exported = functions.flatMap(({ exportedAs }, i) =>
    exportedAs === undefined ? [] : [[exportedAs, i] as const],
  );
  const exports = [
    [...name("memory"), 2, 0],
    ...exported.map(([text, index]) => [...name(text), 0, ...unsigned(index)]),
  ];
  return Uint8Array.from([
    ...MAGIC,
    ...section(1, types),
    ...section(
      3,
      functions.map((_, i) => unsigned(i)),
    ),
    ...section(5, [[1, ...unsigned(memoryPages), ...unsigned(memoryPages)]]),
    ...section(7, exports),
    ...section(10, functions.map(body)),
  ]);
}

function body({ integers, vectors, code }: WasmFunction): number[] {
  const bytes = flatten([2, unsigned(integers), I32, unsigned(vectors), V128, code, 0x0b]);
  return [...unsigned(bytes.length), ...bytes];
}

function section(id: number, items: readonly (readonly number[])[]): number[] {
  const bytes = [...unsigned(items.length), ...items.flat()];
  return [id, ...unsigned(bytes.length), ...bytes];
}

function flatten(code: Code, bytes: number[] = []): number[] {
  for (const part of code) {
    if (typeof part === "number") bytes.push(part);
    else flatten(part, bytes);
  }
  return bytes;
}

function name(text: string): number[] {
  return [text.length, ...Buffer.from(text, "latin1")];
}

function repeated(value: number, times: number): number[] {
  return new Array<number>(times).fill(value);
}

function unsigned(value: number): number[] {
  const bytes: number[] = [];
  let rest = value >>> 0;
  for (; rest > 0x7f; rest >>>= 7) bytes.push((rest & 0x7f) | 0x80);
  return [...bytes, rest];
}

function signed(value: number): number[] {
  const bytes: number[] = [];
  let rest = value | 0;
  for (; rest < -64 || rest > 63; rest >>= 7) bytes.push((rest & 0x7f) | 0x80);
  return [...bytes, rest & 0x7f];
}
