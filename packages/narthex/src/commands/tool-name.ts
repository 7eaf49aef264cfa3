import { usageError } from "../terminal/command-error.ts";

export interface ToolName {
  readonly name: string;
  /** Empty for the highest release. */
  readonly version: string;
}

/** Parses `echo` or `echo@1.0.0`. The kernel decides whether the tool exists. */
export function parseToolName(text: string): ToolName {
  const at = text.indexOf("@");
  const tool = at < 0 ? { name: text, version: "" } : { name: text.slice(0, at), version: text.slice(at + 1) };
  if (tool.name === "" || (at >= 0 && tool.version === "")) {
    throw usageError(`\`${text.slice(0, 60)}\` names no tool; write NAME or NAME@VERSION`);
  }
  return tool;
}
