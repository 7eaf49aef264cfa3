import type { ToolInfo } from "@narthex/contracts";

/** Which of the tools that a session may call are listed to MCP clients. All of them can be called in any case. */
export type McpToolSet = "coding" | "all";

/**
 * Built-in tools that cost a coding agent more context than they are worth: `read_file` duplicates `file_read` and has
 * the name of a built-in tool of some clients; the others serve programs and trials of the kernel.
 */
const NOT_FOR_CODING: ReadonlySet<string> = new Set(["artifact_get", "artifact_publish", "echo", "hash", "read_file"]);

/** No call of a tool in one of these states could succeed. */
const UNUSABLE: ReadonlySet<string> = new Set(["quarantined", "disabled"]);

export function selectOfferedTools(infos: readonly ToolInfo[], set: McpToolSet): ToolInfo[] {
  return infos.filter(
    ({ name, source, state }) =>
      !UNUSABLE.has(state) && (set === "all" || source !== "builtin" || !NOT_FOR_CODING.has(name)),
  );
}
