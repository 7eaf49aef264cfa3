import type { JsonObject } from "@narthex/contracts";
import type { FunctionDecl, ObjectSchema } from "./function-decl.ts";

/** A declared tool of the AI SDK, without an `execute` function. */
export interface AiSdkToolDecl {
  readonly description: string;
  readonly inputSchema: AiSdkSchema;
}

/**
 * A schema that follows the open standard which the AI SDK reads, and that also has the SDK's own mark. With the mark
 * the SDK passes the JSON schema on unchanged; without it, the SDK would close every object.
 */
export interface AiSdkSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "narthex";
    /** Accepts everything: the kernel validates, and its response tells the model what to correct. */
    validate(value: unknown): { readonly value: JsonObject };
    readonly jsonSchema: JsonSchemaConverter;
  };
}

interface JsonSchemaConverter {
  input(): Record<string, unknown>;
  output(): Record<string, unknown>;
}

const MARK = Symbol.for("vercel.ai.schema");

export function toAiSdkTools(decls: readonly FunctionDecl[]): Record<string, AiSdkToolDecl> {
  return Object.fromEntries(
    decls.map(({ name, description, parameters }) => [name, { description, inputSchema: toAiSdkSchema(parameters) }]),
  );
}

function toAiSdkSchema(parameters: ObjectSchema): AiSdkSchema {
  const asJsonSchema = (): Record<string, unknown> => structuredClone(parameters);
  const marked = {
    [MARK]: true,
    jsonSchema: parameters,
    validate: (value: unknown) => ({ success: true, value }),
    "~standard": {
      version: 1 as const,
      vendor: "narthex" as const,
      validate: (value: unknown) => ({ value: value as JsonObject }),
      jsonSchema: { input: asJsonSchema, output: asJsonSchema },
    },
  };
  return marked;
}
