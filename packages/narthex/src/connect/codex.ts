import { AGENT_NAMES } from "./agent-names.ts";
import type { Client } from "./client.ts";
import type { MemberEdit } from "./configuration-edit.ts";
import { serverEdit } from "./server-entry.ts";

const agent = AGENT_NAMES.codex;

/** Features that give the agent tools which act on the machine or on resources of the user's account. */
const OFF = ["shell_tool", "unified_exec", "view_image", "multi_agent_v2", "apps", "browser_use", "computer_use"];

/** One hour: a call may wait for an approval, and tests may run long. */
const TOOL_TIMEOUT_SECONDS = 3600;

export const codex: Client = {
  title: "Codex",
  agent,
  switchedOff: "built-in shell, edits, web search, browser, apps and subagents off",
  limitations: [
    "Codex reads this file only in a project that you trust: in any other its own shell stays on, without a word",
    "`-c` options, profiles and other MCP servers in ~/.codex/config.toml go before this or beside it",
    "built-in plan, question and MCP resource tools stay: they touch neither files nor the network",
  ],
  versions: {
    command: "codex",
    tried: "0.169.0",
    least: "0.169.0",
    before: "was not tried, and may not know these settings",
  },
  next: () => [
    "start `codex` here and trust the folder when it asks",
    "without a terminal: codex exec --trust ..., which keeps the trust for later",
  ],
  files(setting) {
    const features = OFF.map((feature): MemberEdit => member(["features"], feature, false));
    const more = {
      // Without it the first model request is sent before narthex's tools are available.
      required: true,
      // The kernel decides and asks by itself; otherwise `codex exec` refuses every tool that writes.
      default_tools_approval_mode: "approve",
      tool_timeout_sec: TOOL_TIMEOUT_SECONDS,
    };
    const server = serverEdit(setting, { serversKey: "mcp_servers", agent, typed: false, extraFields: more });
    return [
      {
        name: ".codex/config.toml",
        format: "toml",
        // Disables version 1 subagents; version 2 is switched off as a feature.
        edits: [member([], "web_search", "disabled"), ...features, member(["agents"], "enabled", false), server],
      },
    ];
  },
};

function member(at: readonly string[], key: string, value: string | boolean): MemberEdit {
  return { kind: "member", at, key, value, mayReplace: () => true };
}
