import { AGENT_NAMES } from "./agent-names.ts";
import type { Client } from "./client.ts";
import type { ConfigurationEdit } from "./configuration-edit.ts";
import { serverEdit } from "./server-entry.ts";

const agent = AGENT_NAMES.gemini;

/** Excluded by name rather than with `tools.core`, which would remove narthex's tools as well. */
const OFF = [
  "run_shell_command",
  "write_file",
  "replace",
  "web_fetch",
  "google_web_search",
  "read_file",
  "read_many_files",
  "list_directory",
  "glob",
  "grep_search",
  "save_memory",
  "activate_skill",
  "invoke_agent",
  "list_background_processes",
  "read_background_output",
];

/** Ten minutes: a call may wait for an approval, and tests may run long. */
const TIMEOUT_MS = 600_000;

export const gemini: Client = {
  title: "Gemini CLI",
  agent,
  switchedOff: "built-in shell, edit, read, search, web, skill and subagent tools off, in yolo mode too",
  limitations: [
    "Gemini CLI reads this file only in a folder that you trust: in any other its own tools stay on",
    "what you type yourself stays: `!` commands and `@` mentions of files; extensions and other MCP servers, too",
  ],
  versions: {
    command: "gemini",
    tried: "0.61.0",
    least: "0.61.0",
    before: "was not tried, and may have other tools",
  },
  next: () => [
    "start `gemini` here and trust the folder when it asks",
    "without a terminal: GEMINI_CLI_TRUST_WORKSPACE=true gemini -p ...",
  ],
  files(setting) {
    // Trusted, because the kernel decides and asks by itself; otherwise no tool would be available without a terminal.
    const more = { trust: true, timeout: TIMEOUT_MS };
    return [
      {
        name: ".gemini/settings.json",
        edits: [
          serverEdit(setting, { serversKey: "mcpServers", agent, typed: false, extraFields: more }),
          ...OFF.map((tool): ConfigurationEdit => ({ kind: "element", at: ["tools", "exclude"], value: tool })),
        ],
      },
    ];
  },
};
