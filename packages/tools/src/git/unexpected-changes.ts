import type { ConfigEntry } from "./config-entries.ts";
import { type GitOperationName, isExpectedConfigChange } from "./git-operations.ts";

/** A configuration key that an operation was not expected to change. */
export interface UnexpectedChange {
  readonly key: string;
  /** The earlier values; empty if the key did not exist. */
  readonly before: readonly (string | undefined)[];
  readonly isThere: boolean;
}

/** Compares a repository's own configuration before and after an operation that was free to write it. */
export function unexpectedChanges(
  operation: GitOperationName,
  before: readonly ConfigEntry[],
  after: readonly ConfigEntry[],
): UnexpectedChange[] {
  const [old, now] = [byKey(before), byKey(after)];
  const unexpected: UnexpectedChange[] = [];
  for (const key of new Set([...old.keys(), ...now.keys()])) {
    const [was = [], is = []] = [old.get(key), now.get(key)];
    if (isSame(was, is) || isExpectedConfigChange(operation, key)) continue;
    if (WHOLE_SECTIONS[operation]?.test(key) && (is.length === 0 || isMoved(key, is, old, now))) continue;
    unexpected.push({ key, before: was, isThere: is.length > 0 });
  }
  return unexpected;
}

/** Sections that git deletes and renames as a whole, including entries of other programs. */
const WHOLE_SECTIONS: Readonly<Partial<Record<GitOperationName, RegExp>>> = {
  BRANCH: /^branch\..+\./s,
  REMOTE: /^(?:remote|branch)\..+\./s,
};

type Values = readonly (string | undefined)[];

function byKey(entries: readonly ConfigEntry[]): Map<string, (string | undefined)[]> {
  const found = new Map<string, (string | undefined)[]>();
  for (const { key, value } of entries) found.set(key, [...(found.get(key) ?? []), value]);
  return found;
}

/** Whether the same variable had these values under another name, and has been removed there or has kept its values. */
function isMoved(
  key: string,
  values: Values,
  old: ReadonlyMap<string, Values>,
  now: ReadonlyMap<string, Values>,
): boolean {
  for (const [other, was] of old) {
    if (other === key || variableOf(other) !== variableOf(key) || !isSame(was, values)) continue;
    const is = now.get(other) ?? [];
    if (is.length === 0 || isSame(is, was)) return true;
  }
  return false;
}

/** The key without the name in its middle. */
function variableOf(key: string): string {
  return `${key.slice(0, key.indexOf("."))}${key.slice(key.lastIndexOf("."))}`;
}

function isSame(one: Values, other: Values): boolean {
  return one.length === other.length && one.every((value, index) => value === other[index]);
}
