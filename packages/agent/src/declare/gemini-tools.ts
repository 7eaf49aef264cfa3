import type { FunctionDecl, ObjectSchema } from "./function-decl.ts";
import { toGeminiSchema } from "./gemini-schema.ts";

/** One entry of `config.tools`. */
export interface GeminiTool {
  readonly functionDeclarations: GeminiFunction[];
}

export interface GeminiFunction {
  readonly name: string;
  readonly description: string;
  readonly parametersJsonSchema: ObjectSchema;
}

export function toGeminiTools(decls: readonly FunctionDecl[]): GeminiTool[] {
  if (decls.length === 0) return [];
  const functionDeclarations = decls.map(({ name, description, parameters }) => ({
    name,
    description,
    parametersJsonSchema: { ...toGeminiSchema(parameters), type: "object" as const },
  }));
  return [{ functionDeclarations }];
}
