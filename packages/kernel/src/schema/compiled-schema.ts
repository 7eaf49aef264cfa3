import type { JsonValue, Violation } from "@narthex/contracts";

/** A compiled schema: checking a value parses, resolves and compiles nothing. */
export interface CompiledSchema {
  /**
   * Returns the rules that the value breaks, at most 256; always the same empty list if none exist. Never throws,
   * whatever the value.
   */
  check(value: JsonValue): readonly Violation[];
  /**
   * Returns the value with the defaults of absent properties added, or the same value if none is absent. Must run
   * before `check`: a required property with a default is satisfied by it. Defaults inside `anyOf`, `oneOf`, `not`,
   * `if` and `dependentSchemas` are only documentation, since the branch that applies is not known yet.
   */
  applyDefaults(value: JsonValue): JsonValue;
  /** Values of `format` that are not checked, sorted. They describe a value and do not constrain it. */
  readonly describedFormats: readonly string[];
}

export interface CompileOptions {
  /** Name of the schema in problems: `inputSchema`, `outputSchema`. */
  readonly name?: string;
}
