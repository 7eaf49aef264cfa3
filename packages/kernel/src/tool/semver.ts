/** A parsed semantic version 2.0.0. */
export interface Semver {
  readonly major: number;
  readonly minor: number;
  readonly patch: number;
  /** Empty for a release. Numbers compare as numbers. */
  readonly prerelease: readonly (string | number)[];
  readonly build: readonly string[];
}

const MAX_LENGTH = 256;
const NUMBER = "(0|[1-9]\\d*)";
const IDENTIFIER = "(?:0|[1-9]\\d*|\\d*[a-zA-Z-][0-9a-zA-Z-]*)";
const SEMVER = new RegExp(
  `^${NUMBER}\\.${NUMBER}\\.${NUMBER}(?:-(${IDENTIFIER}(?:\\.${IDENTIFIER})*))?(?:\\+([0-9a-zA-Z-]+(?:\\.[0-9a-zA-Z-]+)*))?$`,
);

/** Parses strictly: no `v`, no missing parts, no leading zeros, no numbers beyond 2^53 - 1. */
export function parseSemver(text: string): Semver | undefined {
  if (text.length > MAX_LENGTH) return undefined;
  const parts = SEMVER.exec(text);
  if (parts === null) return undefined;
  const [major = 0, minor = 0, patch = 0] = parts.slice(1, 4).map(Number);
  const prerelease = (parts[4]?.split(".") ?? []).map((part) => (/^\d+$/.test(part) ? Number(part) : part));
  const numbers = [major, minor, patch, ...prerelease.filter((part) => typeof part === "number")];
  if (!numbers.every(Number.isSafeInteger)) return undefined;
  return { major, minor, patch, prerelease, build: parts[5]?.split(".") ?? [] };
}

export function isRelease(version: Semver): boolean {
  return version.prerelease.length === 0;
}

/** Negative if `a` precedes `b`. Ignores build metadata. */
export function compareSemver(a: Semver, b: Semver): number {
  return a.major - b.major || a.minor - b.minor || a.patch - b.patch || comparePrerelease(a.prerelease, b.prerelease);
}

function comparePrerelease(a: Semver["prerelease"], b: Semver["prerelease"]): number {
  if (a.length === 0 || b.length === 0) return b.length - a.length;
  for (const [index, left] of a.entries()) {
    const right = b[index];
    if (right === undefined) return 1;
    if (left === right) continue;
    if (typeof left === "number") return typeof right === "number" ? left - right : -1;
    if (typeof right === "number") return 1;
    return left < right ? -1 : 1;
  }
  return a.length - b.length;
}
