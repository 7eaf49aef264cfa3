import { isJsonObject } from "@narthex/contracts";
import type { ObjectSchema } from "./function-decl.ts";
import { mapSubschemas, type Subschema } from "./map-schema.ts";

/** Maximum number of JSON characters that one tool's parameters may take of a model's context. */
export const MAX_PARAMETERS = 32 * 1024;

const ANNOTATIONS: ReadonlySet<string> = new Set(["$comment", "default", "description", "examples", "title"]);

export interface BoundParameters {
  readonly parameters: ObjectSchema;
  readonly notes: readonly string[];
}

/**
 * Reduces parameters to a size that fits a model's context: first removes annotations, then everything but the names.
 * The kernel validates every input against the whole schema in any case.
 */
export function boundParameters(parameters: ObjectSchema): BoundParameters {
  if (isWithin(parameters)) return { parameters, notes: [] };
  const bare: ObjectSchema = { ...withoutAnnotations(parameters), type: "object" };
  if (isWithin(bare)) return { parameters: bare, notes: [] };
  const { properties, required } = parameters;
  const names = isJsonObject(properties) ? Object.keys(properties) : [];
  const named: ObjectSchema = {
    type: "object",
    properties: Object.fromEntries(names.map((name) => [name, {}])),
    ...(required !== undefined && { required }),
  };
  const notes = ["a schema that is too long to be shown; a wrong call is answered with what was expected"];
  return { parameters: isWithin(named) ? named : { type: "object" }, notes };
}

function isWithin(parameters: ObjectSchema): boolean {
  return JSON.stringify(parameters).length <= MAX_PARAMETERS;
}

function withoutAnnotations<T extends Subschema>(schema: T): Subschema & object {
  if (!isJsonObject(schema)) return {};
  const kept = Object.fromEntries(Object.entries(schema).filter(([keyword]) => !ANNOTATIONS.has(keyword)));
  return mapSubschemas(kept, (subschema) => (isJsonObject(subschema) ? withoutAnnotations(subschema) : subschema));
}
