import { AGENT_NAMES } from "./agent-names.ts";
import type { Client } from "./client.ts";
import { isServerEntry, SERVER_NAME, serverWords } from "./server-entry.ts";

const agent = AGENT_NAMES.opencode;

/** Names of permissions; `edit` stands for every tool that writes files. */
const OFF = [
  "bash",
  "edit",
  "read",
  "glob",
  "grep",
  "list",
  "webfetch",
  "websearch",
  "external_directory",
  "task",
  "skill",
  "lsp",
];

export const opencode: Client = {
  title: "opencode",
  agent,
  switchedOff: "built-in shell, edit, read, search, web, skill and subagent tools off",
  stays: [
    "permissions in .opencode, of single agents and in OPENCODE_CONFIG go before this; plugins run as you",
    "what you type yourself stays: `!` commands and `@` mentions of files",
  ],
  versions: {
    command: "opencode",
    tried: "1.18.33",
    least: "1.18.0",
    before: "was not tried, and may not know these permissions",
  },
  next: () => ["start `opencode` here; it asks nothing", "without a terminal: opencode run ..."],
  files(setting) {
    const { command, arguments: words } = setting.line(...serverWords(setting.workspace, agent, setting));
    return [
      {
        // It reads both, and this one last.
        name: setting.has("opencode.jsonc") ? "opencode.jsonc" : "opencode.json",
        edits: [
          {
            kind: "member",
            at: ["mcp"],
            key: SERVER_NAME,
            value: { type: "local", command: [command, ...words], enabled: true },
            mayReplace: isServerEntry,
          },
          {
            kind: "member",
            at: [],
            key: "permission",
            // SECURITY: whole, because the last match counts: a wildcard that stood there could allow everything again.
            value: { ...Object.fromEntries(OFF.map((name) => [name, "deny"])), [`${SERVER_NAME}_*`]: "allow" },
            mayReplace: () => true,
          },
        ],
      },
    ];
  },
};
