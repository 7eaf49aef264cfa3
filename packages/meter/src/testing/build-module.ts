const HEADER = [0, 0x61, 0x73, 0x6d, 1, 0, 0, 0];

export interface BuiltFunction {
  readonly body: Uint8Array;
  /** Declared locals, as groups of a count and a type. */
  readonly locals?: readonly (readonly [count: number, type: number])[];
}

/**
 * Builds a module of functions without parameters and results, from bytes that an assembler would reject or take too
 * long to produce.
 */
export function buildModule(functions: readonly BuiltFunction[]): Uint8Array {
  const bodies = functions.map(({ body, locals = [] }) => {
    const groups = locals.flatMap(([count, type]) => [...u32(count), type]);
    const start = [...u32(locals.length), ...groups];
    return [u32(start.length + body.length + 1), start, body, [0x0b]];
  });
  return concat([
    HEADER,
    [1, 4, 1, 0x60, 0, 0],
    section(3, [u32(functions.length), new Uint8Array(functions.length)]),
    section(7, [[1, 1, 0x66, 0, 0]]),
    section(10, [u32(functions.length), ...bodies.flat()]),
  ]);
}

export function repeat(unit: readonly number[], times: number): Uint8Array {
  const bytes = new Uint8Array(unit.length * times);
  for (let at = 0; at < bytes.length; at += unit.length) bytes.set(unit, at);
  return bytes;
}

export function concat(parts: readonly ArrayLike<number>[]): Uint8Array {
  const bytes = new Uint8Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    bytes.set(part, at);
    at += part.length;
  }
  return bytes;
}

export function u32(value: number): number[] {
  return value < 0x80 ? [value] : [(value & 0x7f) | 0x80, ...u32(value >>> 7)];
}

export function section(id: number, parts: readonly ArrayLike<number>[]): Uint8Array {
  const content = concat(parts);
  return concat([[id], u32(content.length), content]);
}
