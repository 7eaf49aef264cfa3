import type { JsonObject } from "@narthex/contracts";

/** A tool as any model is told about it. The form of each provider derives from this one. */
export interface FunctionDecl {
  /** Fits the rules of every provider: see `createWireNames`. */
  readonly name: string;
  readonly description: string;
  readonly parameters: ObjectSchema;
}

/** JSON Schema of an object, without a combinator at its top: providers refuse anything else. */
export type ObjectSchema = JsonObject & { readonly type: "object" };
