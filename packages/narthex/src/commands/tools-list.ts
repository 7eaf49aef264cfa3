import type { ToolInfo } from "@narthex/contracts";
import { withConnection } from "../connection/open-connection.ts";
import { findNamedToken } from "../connection/session-token.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { type Column, renderTable } from "../terminal/table.ts";
import { cutText } from "../terminal/visible.ts";
import type { Command } from "./command.ts";
import { toolToJson } from "./tool-view.ts";

const COLUMNS: readonly Column<ToolInfo>[] = [
  { title: "TOOL", value: (tool) => `${tool.name}@${tool.version}` },
  { title: "TIER", narrow: "drop", value: (tool) => tool.safetyTier },
  { title: "DETERMINISM", narrow: "drop", value: (tool) => tool.determinism },
  { title: "EFFECTS", narrow: "drop", value: (tool) => tool.effects.join(", ") || "none" },
  { title: "STATE", value: (tool) => tool.state },
  { title: "DESCRIPTION", narrow: "cut", value: (tool) => cutText(tool.description, 60) },
];

export const toolsListCommand: Command = {
  options: [
    { flags: "--session <id>", description: "only what this session could be allowed to call" },
    { flags: "--all-versions", description: "older versions too" },
  ],
  examples: ["narthex tools list"],

  async run(invocation) {
    const { options, terminal } = invocation;
    const token = await findNamedToken(invocation);
    const query = { token, allVersions: options.flag("all-versions") };
    const tools = await withConnection(invocation, "tools list", (kernel) => kernel.listTools(query));
    if (terminal.json) terminal.printJson({ tools: tools.map(toolToJson) });
    else terminal.print(...renderTable(columnsFor(tools), tools, terminal.columns));
    return EXIT_OK;
  },
};

/** If all tools are in the same state, the state column may be dropped first. */
function columnsFor(tools: readonly ToolInfo[]): readonly Column<ToolInfo>[] {
  const isUniform = new Set(tools.map(({ state }) => state)).size <= 1;
  return isUniform
    ? COLUMNS.map((column) => (column.title === "STATE" ? { ...column, narrow: "drop" as const } : column))
    : COLUMNS;
}
