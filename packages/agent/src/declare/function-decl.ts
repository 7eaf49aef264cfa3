import type { JsonObject } from "@narthex/contracts";

/** A provider-neutral tool declaration for models. Each provider's format derives from it. */
export interface FunctionDecl {
  /** Valid for every provider: see `createWireNames`. */
  readonly name: string;
  readonly description: string;
  readonly parameters: ObjectSchema;
}

/** JSON Schema of an object, without a combinator at the top level: providers refuse anything else. */
export type ObjectSchema = JsonObject & { readonly type: "object" };
