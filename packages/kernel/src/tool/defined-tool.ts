import type { Tool } from "./tool.ts";

/** A tool of which the compiler knows the name, the input that callers send, and the value of a result. */
export interface DefinedTool<Name extends string, Input, Value> extends Tool {
  readonly name: Name;
  /** Never there at run time. */
  readonly "~types"?: { readonly input: Input; readonly value: Value } | undefined;
}
