import { AGENT_NAMES } from "./agent-names.ts";
import type { Client } from "./client.ts";
import type { ConfigurationEdit } from "./configuration-edit.ts";
import { serverEdit } from "./server-entry.ts";

const agent = AGENT_NAMES.qwen;

/** In its default mode Qwen runs these without an approval if a model considers them harmless. */
const OFF = [
  "run_shell_command",
  "monitor",
  "exec",
  "edit",
  "write_file",
  "notebook_edit",
  // Covers the tools that search and list, too.
  "read_file",
  "zoom_image",
  "web_fetch",
  "web_search",
  "image_gen",
  "save_memory",
  "agent",
  "skill",
  "workflow",
  "create_sub_session",
  "team_create",
  "cron_create",
  "enter_worktree",
  "exit_worktree",
  "artifact",
  "lsp",
];

/** Background agents that read and write through their own shell, regardless of any denied tools. */
const MEMORY_OFF = ["enableManagedAutoMemory", "enableManagedAutoDream", "enableAutoSkill"];

/** Ten minutes: a call may wait for an approval, and tests may run long. */
const TIMEOUT_MS = 600_000;

export const qwen: Client = {
  title: "Qwen Code",
  agent,
  switchedOff: "built-in shell, edit, read, search, web, skill, memory and subagent tools off, in yolo mode too",
  limitations: [
    "what you type yourself stays: `!` commands and `@` mentions of files; extensions and other MCP servers, too",
    "where you switched on folder trust, Qwen Code reads this file only in a folder that you trust",
  ],
  versions: {
    command: "qwen",
    tried: "0.24.4",
    least: "0.24.0",
    before: "was not tried, and may not know these settings",
  },
  next: () => [
    "start `qwen` here and approve the server `narthex` when it asks",
    "without a terminal: `qwen mcp approve narthex` here once, then qwen -p ...",
  ],
  files(setting) {
    // Trusted, because the kernel decides and asks by itself.
    const more = { trust: true, timeout: TIMEOUT_MS, alwaysLoadTools: true };
    return [
      {
        name: ".qwen/settings.json",
        edits: [
          serverEdit(setting, { serversKey: "mcpServers", agent, typed: false, extraFields: more }),
          ...OFF.map((tool): ConfigurationEdit => ({ kind: "element", at: ["permissions", "deny"], value: tool })),
          ...MEMORY_OFF.map(
            (key): ConfigurationEdit => ({
              kind: "member",
              at: ["memory"],
              key,
              value: false,
              mayReplace: () => true,
            }),
          ),
        ],
      },
    ];
  },
};
