import type { FunctionDecl, ObjectSchema } from "./function-decl.ts";

/** A tool as listed by MCP. */
export interface McpToolDecl {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: ObjectSchema;
}

export function toMcpTools(decls: readonly FunctionDecl[]): McpToolDecl[] {
  return decls.map(({ name, description, parameters }) => ({ name, description, inputSchema: parameters }));
}
