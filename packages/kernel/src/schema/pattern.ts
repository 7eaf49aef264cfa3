import { RE2JS } from "re2js";
import { SCHEMA_LIMITS } from "./schema-limits.ts";
import { type TranslatedPattern, translatePattern, UnsupportedPattern } from "./translate-pattern.ts";

/** A pattern that matches in time linear in the length of the text. */
export interface Pattern {
  readonly source: string;
  /** The number of steps charged for matching a text of this length. */
  cost(length: number): number;
  test(text: string): boolean;
}

/**
 * Compiles a pattern, or returns why it is rejected.
 *
 * SECURITY: `^(a+)+$` takes a backtracking engine seconds for thirty characters. Patterns are compiled with RE2, which
 * runs in time linear in the text; only patterns whose form rules out repeated backtracking use the faster built-in
 * engine.
 */
export function compilePattern(source: string): Pattern | { readonly problem: string } {
  if (source.length > SCHEMA_LIMITS.patternLength) {
    return { problem: `a pattern may have ${SCHEMA_LIMITS.patternLength} characters at most` };
  }
  try {
    const translated = translatePattern(source);
    if (translated.states > SCHEMA_LIMITS.patternStates) {
      return { problem: "the pattern's repetitions make it too large" };
    }
    const matcher = translated.simple ? new RegExp(source, "u") : RE2JS.compile(translated.source);
    return { source, cost: costOf(translated), test: (text) => matcher.test(text) };
  } catch (error) {
    if (error instanceof UnsupportedPattern) return { problem: error.message };
    return { problem: "not a pattern that can be matched in linear time" };
  }
}

/** Measured: one step of either engine takes less than about forty nanoseconds for the worst pattern found. */
function costOf(pattern: TranslatedPattern): (length: number) => number {
  const perCharacter = 1 + (pattern.simple ? pattern.states / 4 : pattern.states * 2);
  return (length) => Math.ceil(length * perCharacter);
}
