import type { JsonObject } from "@narthex/contracts";
import { AGENT_NAMES } from "./agent-names.ts";
import type { Client } from "./client.ts";
import type { ConfigurationEdit } from "./configuration-edit.ts";
import { isServerEntry, SERVER_NAME, createServerArguments } from "./server-entry.ts";

const agent = AGENT_NAMES.opencode;

/** Permission names; `edit` covers every tool that writes files. */
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

/** Files of a workspace that opencode merges, in its order. */
const NAMES = ["opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"];

export const opencode: Client = {
  title: "opencode",
  agent,
  switchedOff: "built-in shell, edit, read, search, web, skill and subagent tools off",
  limitations: [
    "permissions of single agents and in OPENCODE_CONFIG go before this; plugins run as you",
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
    const { command, arguments: words } = setting.line(...createServerArguments(setting.workspace, agent, setting));
    const edits: readonly ConfigurationEdit[] = [
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
        // SECURITY: replaced as a whole, because the last match counts: a remaining wildcard could allow everything
        // again.
        value: { ...denied(OFF), ...denied(OFF.map(asPattern)), [`${SERVER_NAME}_*`]: "allow" },
        mayReplace: () => true,
      },
    ];
    // SECURITY: opencode merges all of these files key by key, in the key order of the first. A wildcard in another
    // file would come after the denials in this one, and a variable there would be passed to narthex's server.
    const names = NAMES.filter((name) => setting.has(name));
    return (names.length > 0 ? names : NAMES.slice(0, 1)).map((name) => ({ name, edits }));
  },
};

function denied(names: readonly string[]): JsonObject {
  return Object.fromEntries(names.map((name) => [name, "deny"]));
}

/**
 * Turns `bash` into `bas?`.
 *
 * SECURITY: if a file of the user's or of a parent directory names a tool and then a wildcard, the tool's own key keeps
 * its place before the wildcard. A key that no other file has comes last, and so takes effect.
 */
function asPattern(name: string): string {
  return `${name.slice(0, -1)}?`;
}
