import { AGENT_NAMES } from "./agent-names.ts";
import type { Client } from "./client.ts";
import type { ConfigurationEdit } from "./configuration-edit.ts";
import { HOOK_TIMEOUT_SECONDS, hasHookLine, hookLine } from "./hook-entry.ts";
import { serverEdit } from "./server-entry.ts";

/**
 * The event before every tool, and those before commands and MCP tools, because only in these Cursor can ask a person.
 */
const EVENTS = ["preToolUse", "beforeShellExecution", "beforeMCPExecution"];

const agent = AGENT_NAMES.cursor;

export const cursor: Client = {
  title: "Cursor",
  agent,
  switchedOff: "built-in tools ask narthex first",
  limitations: [
    "Cursor cannot switch off its built-in tools: commands and edits still run outside any sandbox once a rule or you allow them",
    "only the hook stands before them; it refuses when it fails, and cannot see Tab completions or cloud agents",
    "a workspace must be trusted for its hooks to run at all",
  ],
  next: () => ["open the folder in Cursor, trust it, and switch on the server `narthex` under Customize, MCPs"],
  files(setting) {
    const command = hookLine(setting, "cursor");
    // SECURITY: without `failClosed`, a hook that cannot start lets the call through.
    const value = { command, timeout: HOOK_TIMEOUT_SECONDS, failClosed: true };
    return [
      { name: ".cursor/mcp.json", edits: [serverEdit(setting, { serversKey: "mcpServers", agent, typed: false })] },
      {
        name: ".cursor/hooks.json",
        edits: [
          { kind: "member", at: [], key: "version", value: 1, mayReplace: () => false },
          ...EVENTS.map(
            (event): ConfigurationEdit => ({
              kind: "element",
              at: ["hooks", event],
              value,
              replaces: (current) => hasHookLine(current, "cursor"),
            }),
          ),
        ],
      },
    ];
  },
};
