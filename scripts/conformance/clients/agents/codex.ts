import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentClient } from "../agent-client.ts";

export const codex: AgentClient = {
  name: "codex",
  title: "Codex",
  package: "@openai/codex",
  version: "0.169.0",
  program: "codex",
  async prepare({ home, project, modelUrl }) {
    await mkdir(join(home, ".codex"), { recursive: true });
    const lines = [
      `model = "gpt-5.1-codex"`,
      `model_provider = "loopback"`,
      `check_for_update_on_startup = false`,
      `[analytics]`,
      `enabled = false`,
      `[model_providers.loopback]`,
      `name = "loopback"`,
      `base_url = ${JSON.stringify(`${modelUrl}/v1`)}`,
      `env_key = "LOOPBACK_API_KEY"`,
      `wire_api = "responses"`,
      `[projects.${JSON.stringify(project)}]`,
      `trust_level = "trusted"`,
    ];
    await writeFile(join(home, ".codex/config.toml"), `${lines.join("\n")}\n`);
  },
  environment: () => ({ LOOPBACK_API_KEY: "none" }),
  arguments: (prompt, { isPermissive }) => [
    "exec",
    ...(isPermissive ? ["--dangerously-bypass-approvals-and-sandbox"] : []),
    prompt,
  ],
  toolName: (name) => ({ name, namespace: "mcp__narthex" }),
  ownTools: (path) => [
    { name: "exec_command", input: { cmd: `touch ${path}` } },
    { name: "shell_command", isKnown: true, input: { command: `touch ${path}` } },
    {
      name: "apply_patch",
      isKnown: true,
      input: { input: `*** Begin Patch\n*** Add File: ${path}\n+x\n*** End Patch\n` },
    },
  ],
};
