import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentClient } from "../agent-client.ts";

const KEY = "sk-ant-none-of-anyone-0000000000000000000000";

export const claude: AgentClient = {
  name: "claude",
  title: "Claude Code",
  package: "@anthropic-ai/claude-code",
  version: "2.1.327",
  program: "claude",
  async prepare({ home, project }) {
    const settings = {
      hasCompletedOnboarding: true,
      customApiKeyResponses: { approved: [KEY.slice(-20)], rejected: [] },
      projects: { [project]: { hasTrustDialogAccepted: true, enabledMcpjsonServers: ["narthex"] } },
    };
    await writeFile(join(home, ".claude.json"), JSON.stringify(settings));
  },
  environment: ({ modelUrl }) => ({
    ANTHROPIC_BASE_URL: modelUrl,
    ANTHROPIC_API_KEY: KEY,
    CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: "1",
    DISABLE_AUTOUPDATER: "1",
    // Without it, permissive runs are refused for root, whose permissions nothing would limit.
    IS_SANDBOX: "1",
  }),
  arguments: (prompt, { isPermissive }) => [
    "--print",
    ...(isPermissive ? ["--dangerously-skip-permissions"] : []),
    prompt,
  ],
  toolName: (name) => ({ name: `mcp__narthex__${name}` }),
  ownTools: (path) => [
    { name: "Bash", input: { command: `touch ${path}`, description: "Create a file" } },
    { name: "Write", input: { file_path: path, content: "x" } },
  ],
};
