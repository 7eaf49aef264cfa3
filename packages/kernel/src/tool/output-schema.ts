import { isJsonObject, KernelError } from "@narthex/contracts";
import { compileSchema } from "../schema/compile-schema.ts";
import type { CompiledSchema } from "../schema/compiled-schema.ts";
import type { ResultType, ToolDeclaration } from "./tool.ts";

/** The JSON type that the schema of each result type must declare. The schema of a stream applies to its whole text. */
const SCHEMA_TYPES: Readonly<Record<ResultType, string | undefined>> = {
  json: undefined,
  object: "object",
  array: "array",
  string: "string",
  stream: "string",
  binary: undefined,
};

/** Compiles a tool's output schema; undefined if it declares none. Throws INVALID_DECLARATION. */
export function compileOutputSchema({ resultType, outputSchema }: ToolDeclaration): CompiledSchema | undefined {
  if (outputSchema === undefined) return undefined;
  if (resultType === "binary") throw refusal("outputSchema", "a binary result is bytes: it takes no schema");
  const compiled = compileSchema(outputSchema, { name: "outputSchema" });
  const expected = SCHEMA_TYPES[resultType];
  const declared = isJsonObject(outputSchema) ? outputSchema["type"] : undefined;
  if (expected === undefined || declared === undefined || [declared].flat().includes(expected)) return compiled;
  throw refusal("outputSchema.type", `must be ${expected}, as the result type ${resultType} says`);
}

function refusal(field: string, message: string): KernelError {
  const violations = [{ field, rule: "exclusive", message }];
  return new KernelError("INVALID_DECLARATION", `${field} ${message}`, { violations });
}
