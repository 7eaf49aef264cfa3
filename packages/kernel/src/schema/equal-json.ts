import type { JsonValue } from "@narthex/contracts";
import { isObject, type Meter } from "./check.ts";

/** Whether two values are the same JSON: key order does not matter, 1 and 1.0 are one number. */
export function equalJson(a: JsonValue | undefined, b: JsonValue | undefined): boolean {
  if (a === b) return true;
  if (Array.isArray(a)) {
    return Array.isArray(b) && a.length === b.length && a.every((item, index) => equalJson(item, b[index]));
  }
  if (!isObject(a) || !isObject(b)) return false;
  const keys = Object.keys(a);
  return (
    keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && equalJson(a[key], b[key]))
  );
}

/** A string that is the same for equal values and different for others. */
export function keyOf(value: JsonValue | undefined, meter: Meter): string {
  meter.spend(1);
  if (typeof value === "string") {
    meter.spend(value.length >> 4);
    return JSON.stringify(value);
  }
  if (typeof value !== "object" || value === null) return String(value === 0 ? 0 : value);
  meter.enter();
  const key = Array.isArray(value)
    ? `[${value.map((item) => keyOf(item, meter)).join()}]`
    : `{${Object.keys(value)
        .sort()
        .map((name) => `${JSON.stringify(name)}:${keyOf(value[name], meter)}`)
        .join()}}`;
  meter.leave();
  return key;
}
