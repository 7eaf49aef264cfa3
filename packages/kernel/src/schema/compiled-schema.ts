import type { JsonValue, Violation } from "@narthex/contracts";

/** A schema made ready: nothing of it is parsed, resolved or compiled again. */
export interface CompiledSchema {
  /**
   * Every rule the value breaks, at most 256; the same empty list each time if there is none.
   * Never throws, whatever the value.
   */
  check(value: JsonValue): readonly Violation[];
  /**
   * The value with the defaults of absent properties filled in, or the very same value if none is absent. Comes
   * before `check`: a required property with a default is satisfied by it. Defaults inside `anyOf`, `oneOf`, `not`,
   * `if` and `dependentSchemas` are descriptions only, since which branch holds is not known yet.
   */
  applyDefaults(value: JsonValue): JsonValue;
  /** Values of `format` that nothing checks: they describe, they do not constrain. Sorted. */
  readonly describedFormats: readonly string[];
}

export interface CompileOptions {
  /** What the schema is called in problems: `inputSchema`, `outputSchema`. */
  readonly name?: string;
}
