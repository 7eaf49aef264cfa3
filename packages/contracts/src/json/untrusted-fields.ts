/** Reading what a stranger sent without trusting its shape. */

export function readField(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

/** Undefined for an empty text too. */
export function readText(value: unknown, key: string): string | undefined {
  const text = readField(value, key);
  return typeof text === "string" && text !== "" ? text : undefined;
}

/** A place in a list, or anything else that counts. */
export function readCount(value: unknown, key: string): number | undefined {
  const count = readField(value, key);
  return Number.isSafeInteger(count) && (count as number) >= 0 ? (count as number) : undefined;
}

export function readList(value: unknown, key: string): readonly unknown[] {
  const list = readField(value, key);
  return Array.isArray(list) ? list : [];
}
