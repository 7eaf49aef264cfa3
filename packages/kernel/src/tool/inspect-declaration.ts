import { isKernelError, KernelError, type Violation } from "@narthex/contracts";
import { compileSchema } from "../schema/compile-schema.ts";
import type { CompiledSchema } from "../schema/compiled-schema.ts";
import { findBoundProblems } from "./bound-rules.ts";
import { findDeclarationProblems } from "./declaration-rules.ts";
import { compileOutputSchema } from "./output-schema.ts";
import type { Tool } from "./tool.ts";

/** A valid declaration with its compiled schemas. */
export interface InspectedDeclaration {
  readonly inputSchema: CompiledSchema;
  /** Undefined if any output is valid. */
  readonly outputSchema: CompiledSchema | undefined;
}

/**
 * Validates and compiles a declaration. Throws INVALID_DECLARATION with every problem of the declaration and its
 * schemas.
 */
export function inspectDeclaration(tool: Tool): InspectedDeclaration {
  const violations = [...findDeclarationProblems(tool), ...findBoundProblems(tool)];
  const inputSchema = collect(violations, () => compileSchema(tool.inputSchema, { name: "inputSchema" }));
  const outputSchema = collect(violations, () => compileOutputSchema(tool));
  if (violations.length > 0 || inputSchema === undefined) throw invalidDeclaration(tool, violations);
  return { inputSchema, outputSchema };
}

/** Throws INVALID_DECLARATION if the declaration contradicts itself or is incomplete. */
export function checkDeclaration(tool: Tool): void {
  inspectDeclaration(tool);
}

function collect<T>(violations: Violation[], compile: () => T): T | undefined {
  try {
    return compile();
  } catch (error) {
    if (!isKernelError(error) || error.code !== "INVALID_DECLARATION") throw error;
    violations.push(...error.violations);
    return undefined;
  }
}

function invalidDeclaration(tool: Tool, violations: readonly Violation[]): KernelError {
  const name = /^[\w.@+-]{1,100}$/.test(`${tool.name}@${tool.version}`) ? `${tool.name}@${tool.version}` : "the tool";
  const shown = violations.slice(0, 3).map(({ field, message }) => `${field} ${message}`);
  const more = violations.length > 3 ? `; and ${violations.length - 3} more` : "";
  return new KernelError("INVALID_DECLARATION", `${name} cannot be registered: ${shown.join("; ")}${more}`, {
    violations,
  });
}
