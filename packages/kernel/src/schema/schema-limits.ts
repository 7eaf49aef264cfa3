/**
 * How large a schema may be and how much work one check may cost.
 *
 * SECURITY: schemas come from MCP servers and imported files, values from agents. Each number bounds the work that one
 * of them can cause on the kernel's only thread; `hostile-schema.test.ts` tests every limit.
 */
export const SCHEMA_LIMITS = {
  /** Nesting of subschemas. */
  depth: 32,
  subschemas: 5_000,
  /** Values of all `enum` lists together. */
  enumValues: 10_000,
  /** Branches of all `allOf`, `anyOf` and `oneOf` together. */
  branches: 1_000,
  /** Nesting of combinators, including through references. */
  combinatorDepth: 16,
  /** Subschemas that can apply to one place in a value, including through references. */
  expansion: 10_000,
  /** Characters of one pattern. */
  patternLength: 1_000,
  /** States of one pattern, with repetitions expanded. */
  patternStates: 2_000,
  /** Values in the schema's own JSON, plus the characters of its keys and strings. */
  jsonValues: 200_000,
  jsonCharacters: 2_000_000,
  jsonDepth: 96,
  /** Elementary steps of one check; a few hundred milliseconds at worst. */
  steps: 5_000_000,
  /** Nesting of references during one check. */
  recursion: 256,
  /** Broken rules that are reported for one value. */
  violations: 256,
} as const;
