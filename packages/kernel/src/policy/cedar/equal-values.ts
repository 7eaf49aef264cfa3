import { type CedarRecord, type CedarSet, type CedarValue, EntityValue, isSameEntity, isSet } from "./cedar-value.ts";
import { expectPlain } from "./expect-plain.ts";

type Scalar = string | number | bigint | boolean;

/** Sets whose sizes multiply to at most this are compared element by element, which allocates nothing. */
const SMALL_PRODUCT = 64;

/** Cedar's `==`, for values of any types. Sets are compared without regard to order and repetition. */
export function equalValues(left: CedarValue, right: CedarValue): boolean {
  if (left === right) return true;
  if (isScalar(left) || isScalar(right)) return false;
  if (left instanceof EntityValue) return right instanceof EntityValue && isSameEntity(left, right);
  if (right instanceof EntityValue || isSet(left) !== isSet(right)) return false;
  // SECURITY: compares keys instead of pairs: comparing nested sets in both directions takes time exponential in their
  // depth.
  return keyOf(left) === keyOf(right);
}

export function contains(set: CedarSet, element: CedarValue): boolean {
  if (isScalar(element)) return set.includes(element);
  if (element instanceof EntityValue)
    return set.some((one) => one instanceof EntityValue && isSameEntity(one, element));
  const key = keyOf(element);
  return set.some((one) => !isScalar(one) && keyOf(one) === key);
}

export function containsAll(outer: CedarSet, inner: CedarSet): boolean {
  const has = memberTest(outer, inner.length);
  return inner.every(has);
}

export function containsAny(outer: CedarSet, inner: CedarSet): boolean {
  const has = memberTest(outer, inner.length);
  return inner.some(has);
}

/** Returns a membership test for the set. Builds an index if the expected number of lookups justifies it. */
export function memberTest(set: CedarSet, lookups: number): (element: CedarValue) => boolean {
  if (set.length * lookups <= SMALL_PRODUCT) return (element) => contains(set, element);
  const members = new Set(set.map(memberKey));
  return (element) => members.has(memberKey(element));
}

function memberKey(value: CedarValue): Scalar {
  if (typeof value === "string") return `s${value}`;
  return isScalar(value) ? value : keyOf(value);
}

/** A string that is equal exactly for equal values. */
function keyOf(value: CedarValue): string {
  expectPlain(value);
  if (typeof value === "string") return JSON.stringify(value);
  if (isScalar(value)) return String(value);
  if (value instanceof EntityValue) return `${value.type}::${JSON.stringify(value.id)}`;
  return isSet(value) ? keyOfSet(value) : keyOfRecord(value);
}

function keyOfSet(set: CedarSet): string {
  const keys = new Set(set.map(keyOf));
  return `[${[...keys].sort().join()}]`;
}

function keyOfRecord(record: CedarRecord): string {
  const keys: string[] = [];
  for (const [name, value] of Object.entries(record)) {
    // As in JSON, undefined attributes are absent.
    if (value !== undefined) keys.push(`${JSON.stringify(name)}:${keyOf(value)}`);
  }
  return `{${keys.sort().join()}}`;
}

function isScalar(value: CedarValue): value is Scalar {
  return typeof value !== "object";
}
