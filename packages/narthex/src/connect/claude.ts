import { isJsonObject, type JsonValue } from "@narthex/contracts";
import { AGENT_NAMES } from "./agent-names.ts";
import type { Client } from "./client.ts";
import type { ConfigurationEdit } from "./configuration-edit.ts";
import { HOOK_TIMEOUT_SECONDS, hasHookLine, hookLine } from "./hook-entry.ts";
import { SERVER_NAME, serverEdit } from "./server-entry.ts";

/**
 * Built-in tools that act on the machine or the network. `Edit` covers every tool that edits files, including
 * `MultiEdit` of earlier versions; naming `MultiEdit` would make current versions warn at each start.
 */
const OFF = ["Bash", "PowerShell", "Monitor", "Edit", "Write", "NotebookEdit", "WebFetch", "WebSearch"];

const agent = AGENT_NAMES.claude;

export const claude: Client = {
  title: "Claude Code",
  agent,
  // Claude Code stores the user's decision on "use this server?" in this file. It adds the file to the user's global
  // list of ignored files, which git in a sandbox does not have.
  ownFiles: [".claude/settings.local.json"],
  switchedOff: "built-in Bash, Edit, Write, WebFetch off",
  limitations: [
    "built-in Read, Grep and Glob stay: rules decide them by the hook, but nothing contains them and no label follows",
    "what you type yourself stays: `!` commands, `@` mentions of files, and hooks of your own",
    "other MCP servers stay: each of their calls asks you",
  ],
  versions: {
    command: "claude",
    tried: "2.1.327",
    least: "2.1.295",
    before:
      "lets calls through when the hook cannot start (npm on Node 20 installs such a version: use Node 22 or newer)",
  },
  next: () => [
    "start `claude` here and answer Yes twice, to the folder and to the server `narthex`: No is preselected both times",
    "`claude -p` works only after that: in a folder that was never trusted it refuses every narthex tool",
  ],
  files(setting) {
    return [
      {
        name: ".mcp.json",
        edits: [
          serverEdit(setting, { serversKey: "mcpServers", agent, typed: true, extraFields: { alwaysLoad: true } }),
        ],
      },
      {
        name: ".claude/settings.json",
        edits: [
          ...OFF.map((tool): ConfigurationEdit => ({ kind: "element", at: ["permissions", "deny"], value: tool })),
          // The kernel decides and asks by itself; asking twice teaches people to approve without reading.
          { kind: "element", at: ["permissions", "allow"], value: `mcp__${SERVER_NAME}` },
          // SECURITY: if this setting were true here, the hook below would never run.
          { kind: "member", at: [], key: "disableAllHooks", value: false, mayReplace: () => true, onlyReplaces: true },
          {
            kind: "element",
            at: ["hooks", "PreToolUse"],
            value: {
              // Matches all other tools, including those of later versions. The kernel decides about its own tools.
              matcher: `^(?!mcp__${SERVER_NAME}__).*`,
              hooks: [
                {
                  type: "command",
                  command: hookLine(setting, "claude"),
                  timeout: HOOK_TIMEOUT_SECONDS,
                  // SECURITY: without this, a hook that cannot start lets the call through.
                  onFailure: "block",
                },
              ],
            },
            replaces: isOwnGroup,
          },
        ],
      },
    ];
  },
};

function isOwnGroup(current: JsonValue): boolean {
  if (!isJsonObject(current)) return false;
  const { hooks } = current;
  return Array.isArray(hooks) && hooks.length === 1 && hooks.every((hook) => hasHookLine(hook, "claude"));
}
