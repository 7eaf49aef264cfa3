/**
 * How large a schema may be and how much work one check may cost.
 *
 * SECURITY: schemas come from MCP servers and imported files, values from agents. Each number bounds what one of them
 * can make the kernel's only thread do; `hostile-schema.test.ts` tries every one.
 */
export const SCHEMA_LIMITS = {
  /** Subschemas inside subschemas. */
  depth: 32,
  subschemas: 5_000,
  /** Values of all `enum` lists together. */
  enumValues: 10_000,
  /** Branches of all `allOf`, `anyOf` and `oneOf` together. */
  branches: 1_000,
  /** Combinators inside combinators, references followed. */
  combinatorDepth: 16,
  /** Subschemas that can apply to one place in a value, references followed. */
  expansion: 10_000,
  /** Characters of one pattern. */
  patternLength: 1_000,
  /** States of one pattern, repetitions written out. */
  patternStates: 2_000,
  /** Values in the schema's own JSON, and the characters of its keys and strings. */
  jsonValues: 200_000,
  jsonCharacters: 2_000_000,
  jsonDepth: 96,
  /** Elementary steps of one check; a few hundred milliseconds at worst. */
  steps: 5_000_000,
  /** References followed inside each other during one check. */
  recursion: 256,
  /** Broken rules that are reported of one value. */
  violations: 256,
} as const;
