import { type CedarRecord, type CedarSet, type CedarValue, EntityValue, isSameEntity, isSet } from "./cedar-value.ts";
import { expectPlain } from "./expect-plain.ts";

type Scalar = string | number | bigint | boolean;

/** Sets up to this product of sizes are compared element by element, which allocates nothing. */
const SMALL_PRODUCT = 64;

/** Cedar's `==`: of any types, sets without order and repetition. */
export function equalValues(left: CedarValue, right: CedarValue): boolean {
  if (left === right) return true;
  if (isScalar(left) || isScalar(right)) return false;
  if (left instanceof EntityValue) return right instanceof EntityValue && isSameEntity(left, right);
  if (right instanceof EntityValue || isSet(left) !== isSet(right)) return false;
  // SECURITY: keys, not pairs: nested sets compared both ways would take time exponential in their depth.
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

/** Whether a value is in the set; prepared where the set is asked so often that preparing it pays. */
export function memberTest(set: CedarSet, lookups: number): (element: CedarValue) => boolean {
  if (set.length * lookups <= SMALL_PRODUCT) return (element) => contains(set, element);
  const members = new Set(set.map(memberKey));
  return (element) => members.has(memberKey(element));
}

function memberKey(value: CedarValue): Scalar {
  if (typeof value === "string") return `s${value}`;
  return isScalar(value) ? value : keyOf(value);
}

/** Equal for equal values, and for no others. */
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
    // As JSON has it: what is undefined is not there.
    if (value !== undefined) keys.push(`${JSON.stringify(name)}:${keyOf(value)}`);
  }
  return `{${keys.sort().join()}}`;
}

function isScalar(value: CedarValue): value is Scalar {
  return typeof value !== "object";
}
