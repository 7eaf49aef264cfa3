import { HookProblem } from "./hook-call.ts";

const MAX_ALTERNATIVES = 50;
const MAX_PATTERN = 4096;
const MAGIC = /[*?[\]{}()!+@|\\]/;
/** Dots written as a set, a group or with escapes, with no character that would make it another name. */
const MAY_BE_DOTS = /^[.[\]()!+@?*|\\^-]*$/;
const GROUP_WITH_PATH = /[@!+?*]\([^)]*(?:\.\.|\/|~)/;

/**
 * Returns the directories in which a pattern starts to search, from its parts without wildcards: relative to where the
 * search starts, or absolute. Undefined if there are too many.
 *
 * SECURITY: a pattern can lead anywhere by itself: `/etc/*`, `../*`, `{..,src}/*`. What is above a directory depends on
 * links and on the client, so a pattern that climbs, or could, is refused.
 */
export function globPlaces(pattern: string): readonly string[] | undefined {
  const alternatives = pattern.length > MAX_PATTERN ? undefined : expandBraces(pattern.trim());
  if (alternatives === undefined) return undefined;
  if (alternatives.some(mayClimb)) {
    throw new HookProblem("the pattern leads upwards; name the directory as `path`, and a pattern below it");
  }
  return [...new Set(alternatives.map(fixedPart))];
}

function mayClimb(alternative: string): boolean {
  if (GROUP_WITH_PATH.test(alternative)) return true;
  return alternative.split("/").some(isDots);
}

function isDots(part: string): boolean {
  if (part.replaceAll("\\", "") === "..") return true;
  return /[[(\\]/.test(part) && part.includes(".") && MAY_BE_DOTS.test(part);
}

/** Everything before the first part with a wildcard, which a search follows without listing directories. */
function fixedPart(alternative: string): string {
  const parts = alternative.split("/");
  const first = parts.findIndex((part) => MAGIC.test(part));
  if (first < 0) return alternative;
  return parts.slice(0, first).join("/") + (first > 0 ? "/" : "");
}

/** Returns undefined for too many alternatives. */
function expandBraces(pattern: string): readonly string[] | undefined {
  const pending = [pattern];
  const expanded: string[] = [];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const group = /\{([^{}]*,[^{}]*)\}/.exec(next);
    if (group === null) expanded.push(next);
    else {
      const [whole, inner = ""] = group;
      const [before, after] = [next.slice(0, group.index), next.slice(group.index + whole.length)];
      for (const part of inner.split(",")) pending.push(before + part + after);
    }
    if (pending.length + expanded.length > MAX_ALTERNATIVES) return undefined;
  }
  return expanded;
}
