/** Reading what a provider sent without trusting its shape. */

export function fieldOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}

export function textOf(value: unknown, key: string): string | undefined {
  const text = fieldOf(value, key);
  return typeof text === "string" && text !== "" ? text : undefined;
}

/** A place in a list, or anything else that counts. */
export function countOf(value: unknown, key: string): number | undefined {
  const count = fieldOf(value, key);
  return Number.isSafeInteger(count) && (count as number) >= 0 ? (count as number) : undefined;
}

export function listOf(value: unknown, key: string): readonly unknown[] {
  const list = fieldOf(value, key);
  return Array.isArray(list) ? list : [];
}

/** Arguments that came as a value, as the text they would have come as. */
export function jsonOf(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "";
  }
}
