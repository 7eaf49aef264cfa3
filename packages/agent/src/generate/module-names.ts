import type { CodeNames } from "./convert-input.ts";
import { chooseName } from "./tool-name.ts";
import type { ToolSource } from "./tool-source.ts";

/** Unique names for everything in a generated module. */
export interface ModuleNames extends CodeNames {
  readonly defineTool: string;
  readonly toolType: string;
  readonly functions: ReadonlyMap<ToolSource, string>;
}

/** The module's export, and the globals that its code uses. */
export const FIXED_NAMES = ["tools", "BigInt", "Object", "undefined"] as const;

/** Names for a module that imports its functions: each function keeps its name if possible. */
export function namesBesideImports(tools: readonly ToolSource[]): ModuleNames {
  const taken = new Set<string>(FIXED_NAMES);
  const functions = new Map(tools.map((tool) => [tool, chooseName(tool.functionName, taken)]));
  return { functions, ...ownNames(taken) };
}

/** Names for a module that contains its functions, which keep their names. */
export function namesBesideSource(tools: readonly ToolSource[], locals: readonly string[]): ModuleNames {
  const functions = new Map(tools.map((tool) => [tool, tool.functionName]));
  return { functions, ...ownNames(new Set([...FIXED_NAMES, ...locals])) };
}

function ownNames(taken: Set<string>): Omit<ModuleNames, "functions"> {
  return {
    defineTool: chooseName("defineTool", taken),
    toolType: chooseName("Tool", taken),
    input: chooseName("input", taken),
    context: chooseName("context", taken),
    item: chooseName("item", taken),
    key: chooseName("key", taken),
    value: chooseName("value", taken),
  };
}
