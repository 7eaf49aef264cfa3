/** Functions that read fields of untrusted values without assuming any shape. */

export function readField(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

/** Returns undefined for an empty text too. */
export function readText(value: unknown, key: string): string | undefined {
  const text = readField(value, key);
  return typeof text === "string" && text !== "" ? text : undefined;
}

/** Reads a list index or another count. */
export function readCount(value: unknown, key: string): number | undefined {
  const count = readField(value, key);
  return Number.isSafeInteger(count) && (count as number) >= 0 ? (count as number) : undefined;
}

export function readList(value: unknown, key: string): readonly unknown[] {
  const list = readField(value, key);
  return Array.isArray(list) ? list : [];
}
