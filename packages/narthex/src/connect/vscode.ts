import { AGENT_NAMES } from "./agent-names.ts";
import type { Client } from "./client.ts";
import { SERVER_NAME, serverEdit } from "./server-entry.ts";

const agent = AGENT_NAMES.vscode;
const isAnything = (): boolean => true;

/** An agent that has only this server's tools. */
const AGENT_FILE = `---
name: Narthex
description: Works through narthex only; no built-in tool of the editor
tools: ['${SERVER_NAME}/*']
---
Use the tools of the server \`${SERVER_NAME}\` for everything: files, commands, git. A refusal says why; do not look for a
way around it.
`;

export const vscode: Client = {
  title: "VS Code",
  agent,
  switchedOff: "built-in commands and edits ask, agent Narthex without built-in tools",
  limitations: [
    "no workspace setting switches off VS Code's built-in tools: choose the agent Narthex in the chat to work without them",
    "in any other agent every built-in command and edit asks you, and nothing contains it",
    "user settings such as chat.tools.global.autoApprove, and sessions with approvals bypassed, go before this",
  ],
  next: () => [
    "open the folder, start the server `narthex` in .vscode/mcp.json, and choose the agent Narthex in the chat",
  ],
  files(setting) {
    return [
      { name: ".vscode/mcp.json", edits: [serverEdit(setting, { serversKey: "servers", agent, typed: true })] },
      {
        name: ".vscode/settings.json",
        edits: [
          {
            kind: "member",
            at: ["chat.tools.terminal.autoApprove"],
            key: "/.*/",
            value: { approve: false, matchCommandLine: true },
            mayReplace: isAnything,
          },
          {
            kind: "member",
            at: [],
            key: "chat.tools.edits.autoApprove",
            // SECURITY: replaced as a whole, because a later pattern would approve files again.
            value: { "**/*": false },
            mayReplace: isAnything,
          },
        ],
      },
      { name: ".github/agents/narthex.agent.md", whole: AGENT_FILE },
    ];
  },
};
