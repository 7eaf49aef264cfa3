import type { JsonObject } from "@narthex/contracts";
import type { Capability, Determinism, Effect, SafetyTier } from "@narthex/kernel";
import type { Field, Shape } from "./shape.ts";

/** A tool as described by its function. */
export interface ToolSource {
  /** Absolute path of the file with the function. */
  readonly file: string;
  readonly functionName: string;
  readonly exportName: string;
  readonly name: string;
  readonly version: string | undefined;
  readonly description: string;
  readonly inputSchema: JsonObject & { readonly type: "object" };
  readonly outputSchema: JsonObject;
  readonly effects: readonly Effect[] | undefined;
  /** Derived from the effects. */
  readonly capabilities: readonly (Capability & JsonObject)[];
  readonly determinism: Determinism | undefined;
  readonly tier: SafetyTier | undefined;
  readonly fields: readonly Field[];
  readonly takesContext: boolean;
  /** Undefined for a function that returns nothing. */
  readonly output: Shape | undefined;
}
