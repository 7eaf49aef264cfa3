import type { CodeNames } from "./convert-input.ts";
import { chooseName } from "./tool-name.ts";
import type { ToolSource } from "./tool-source.ts";

/** What everything is called in a generated module, so that no two things have one name. */
export interface ModuleNames extends CodeNames {
  readonly defineTool: string;
  readonly toolType: string;
  readonly functions: ReadonlyMap<ToolSource, string>;
}

/** What the module exports, and what its code uses of the language. */
export const FIXED_NAMES = ["tools", "BigInt", "Object", "undefined"] as const;

/** For a module that imports its functions: each keeps its name if it can. */
export function namesBesideImports(tools: readonly ToolSource[]): ModuleNames {
  const taken = new Set<string>(FIXED_NAMES);
  const functions = new Map(tools.map((tool) => [tool, chooseName(tool.functionName, taken)]));
  return { functions, ...ownNames(taken) };
}

/** For a module that holds its functions: they are called what they are called. */
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
