import { concat, repeat, section, u32 } from "./build-module.ts";

export const HEADER: readonly number[] = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];
export const NO_VALUES: readonly number[] = [0x60, 0, 0];

/**
 * The encoding of this type index is the bytes 0xc4 0x28, which a faulty reader would take for an instruction and a
 * load.
 */
const TYPE = 0x44 + 0x28 * 0x80;
const hiding = (...hidden: number[]): number[] => [0xd2, 0, 0xd2, 0, 0x41, 0, 0x1c, 1, 0x63, ...u32(TYPE), ...hidden];
// The hidden instructions are `loop`, and `drop` with the loop's `end`. Between them is `br_if 0`, so the loop never
// ends.
const ENDLESS = [...hiding(0x03, 0x40), 0x41, 1, 0x0d, 0, ...hiding(0x1a, 0x0b), 0x1a];

/** A select with a type of several bytes, which hides an endless loop from a reader that misreads it. */
export function hiddenLoop({ isReached }: { readonly isReached: boolean }): Uint8Array {
  const body = isReached ? ENDLESS : [0x00, ...ENDLESS];
  return manyTyped({ types: TYPE + 1, body, element: [1, 3, 0, 1, 0] });
}

/** A block without results, whose overlong negative number looks like a type index. */
export function overlongBlock(): Uint8Array {
  return manyTyped({ types: 0x40 + 0x7f * 0x80 + 1, body: [0x02, 0xc0, 0x7f, 0x0b] });
}

/** A module that consists only of custom sections without a name. */
export function manySections(count: number): Uint8Array {
  return concat([HEADER, repeat([0, 1, 0], count)]);
}

/** A module with one function, of the first of many types without parameters and results. */
export function manyTyped(parts: {
  readonly types: number;
  readonly body: readonly number[];
  readonly element?: readonly number[];
}): Uint8Array {
  const { types, body, element } = parts;
  return concat([
    HEADER,
    section(1, [u32(types), repeat(NO_VALUES, types)]),
    section(3, [[1, 0]]),
    section(5, [[1, 0, 1]]),
    element === undefined ? [] : section(9, [element]),
    section(10, [[1, ...u32(body.length + 2), 0], body, [0x0b]]),
  ]);
}
