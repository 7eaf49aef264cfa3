/**
 * A schema of a library such as zod, valibot or arktype, by the interfaces that these libraries share: Standard Schema and
 * Standard JSON Schema (https://standardschema.dev). Only the parts that are used here; nothing has to be installed.
 */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": StandardSchemaProperties<Input, Output>;
}

export interface StandardSchemaProperties<Input = unknown, Output = Input> {
  readonly version: 1;
  readonly vendor: string;
  /** Missing where JSON Schema says everything. */
  readonly validate?: ((value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>) | undefined;
  /** Missing where the library cannot say its schemas as JSON Schema. */
  readonly jsonSchema?: StandardJsonSchema | undefined;
  /** Never there at run time. */
  readonly types?: { readonly input: Input; readonly output: Output } | undefined;
}

/** Either may throw for what JSON Schema cannot say. */
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

/** The type of the values a schema takes. */
export type StandardInput<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["input"];

/** The type of the values it makes of them, with its defaults and transforms. */
export type StandardOutput<S extends StandardSchema> = NonNullable<S["~standard"]["types"]>["output"];

/** Some libraries make functions of their schemas. */
export function isStandardSchema(schema: unknown): schema is StandardSchema {
  const isHolder = (typeof schema === "object" && schema !== null) || typeof schema === "function";
  if (!isHolder || !("~standard" in schema)) return false;
  const properties = schema["~standard"];
  return typeof properties === "object" && properties !== null;
}
