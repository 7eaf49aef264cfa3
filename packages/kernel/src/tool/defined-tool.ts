import type { Tool } from "./tool.ts";

/** A tool whose name, input and result value are known to the compiler. */
export interface DefinedTool<Name extends string, Input, Value> extends Tool {
  readonly name: Name;
  /** Type information only; never set at run time. */
  readonly "~types"?: { readonly input: Input; readonly value: Value } | undefined;
}
