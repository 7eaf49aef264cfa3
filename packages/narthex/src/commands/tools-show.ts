import { withConnection } from "../connection/open-connection.ts";
import { CommandError } from "../terminal/command-error.ts";
import { EXIT_OK } from "../terminal/exit-code.ts";
import { renderFacts } from "../terminal/table.ts";
import { visible, visibleJson, visibleLines } from "../terminal/visible.ts";
import { wrapWords } from "../terminal/wrap-words.ts";
import { adviseName } from "./call-advice.ts";
import type { Command } from "./command.ts";
import { readJsonText } from "./json-text.ts";
import { parseToolName } from "./tool-name.ts";
import { toolFacts, toolToJson } from "./tool-view.ts";

export const toolsShowCommand: Command = {
  arguments: [{ name: "<tool>", description: "NAME, or NAME@VERSION" }],
  examples: ["narthex tools show hash", "narthex tools show hash@1.0.0 --json"],

  async run(invocation) {
    const { terminal } = invocation;
    const asked = parseToolName(invocation.arguments[0] ?? "");
    const query = { token: undefined, allVersions: asked.version !== "" };
    const tools = await withConnection(invocation, "tools show", (kernel) => kernel.listTools(query));
    const tool = tools.find(
      ({ name, version }) => name === asked.name && (asked.version === "" || version === asked.version),
    );
    if (tool === undefined) {
      throw new CommandError("TOOL_NOT_FOUND", `there is no tool \`${invocation.arguments[0]}\``, {
        next: await adviseName(asked.name, tools),
      });
    }
    if (terminal.json) {
      terminal.printJson(toolToJson(tool));
      return EXIT_OK;
    }
    const heading = (text: string): string => terminal.paint.bold(text);
    const width = terminal.columns ?? Number.POSITIVE_INFINITY;
    const lines = visibleLines(tool.description).split("\n");
    terminal.print(...lines.flatMap((line) => wrapWords(line, { width, longWords: "keep" })), "");
    terminal.print(...renderFacts(toolFacts(tool), terminal.columns));
    terminal.print("", heading("input schema"), schemaText(tool.inputSchema));
    if (tool.outputSchema !== "") terminal.print("", heading("output schema"), schemaText(tool.outputSchema));
    return EXIT_OK;
  },
};

function schemaText(text: string): string {
  const value = readJsonText(text);
  return typeof value === "string" ? visible(value) : visibleJson(JSON.stringify(value, undefined, 2));
}
