import type { FunctionDecl, ObjectSchema } from "./function-decl.ts";

/** A tool in the format of Anthropic's messages API. */
export interface AnthropicTool {
  readonly name: string;
  readonly description: string;
  readonly input_schema: ObjectSchema;
}

export function toAnthropicTools(decls: readonly FunctionDecl[]): AnthropicTool[] {
  return decls.map(({ name, description, parameters }) => ({ name, description, input_schema: parameters }));
}
