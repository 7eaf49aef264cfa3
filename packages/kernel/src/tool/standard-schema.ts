/**
 * A schema of a library such as zod, valibot or arktype, through the interfaces these libraries share: Standard Schema
 * and Standard JSON Schema (https://standardschema.dev). Declares only the parts used here, so no package is needed.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": StandardSchemaProperties<Input, Output>;
}

export interface StandardSchemaProperties<Input = unknown, Output = Input> {
  readonly version: 1;
  readonly vendor: string;
  /** Absent if the JSON Schema is complete on its own. */
  readonly validate?: ((value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>) | undefined;
  /** Absent if the library cannot express its schemas as JSON Schema. */
  readonly jsonSchema?: StandardJsonSchema | undefined;
  /** Type information only; never set at run time. */
  readonly types?: { readonly input: Input; readonly output: Output } | undefined;
}

/** Either function may throw if JSON Schema cannot express the schema. */
export interface StandardJsonSchema {
  readonly input: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
  readonly output: (options: { readonly target: "draft-2020-12" }) => Record<string, unknown>;
}

export type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** The type of the values a schema accepts. */
export type StandardInput<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["input"];

/** The type of a schema's output, after defaults and transforms. */
export type StandardOutput<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["output"];

/** Accepts functions too, because some libraries represent schemas as functions. */
export function isStandardSchema(schema: unknown): schema is StandardSchema {
  const isHolder = (typeof schema === "object" && schema !== null) || typeof schema === "function";
  if (!isHolder || !("~standard" in schema)) return false;
  const properties = schema["~standard"];
  return typeof properties === "object" && properties !== null;
}
