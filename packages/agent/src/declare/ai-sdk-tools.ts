import type { JsonObject } from "@narthex/contracts";
import type { FunctionDecl, ObjectSchema } from "./function-decl.ts";

/** A tool of the AI SDK that is declared and not yet executed by anybody. */
export interface AiSdkToolDecl {
  readonly description: string;
  readonly inputSchema: AiSdkSchema;
}

/**
 * A schema by the open standard that the AI SDK reads, and by its own mark besides: with the mark it passes the JSON
 * schema on as it is, without it every object would be closed.
 */
export interface AiSdkSchema {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: "narthex";
    /** Everything passes: the kernel checks, and its answer tells the model what to correct. */
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
