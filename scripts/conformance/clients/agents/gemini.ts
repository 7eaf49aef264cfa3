import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentClient } from "../agent-client.ts";

export const gemini: AgentClient = {
  name: "gemini",
  title: "Gemini CLI",
  package: "@google/gemini-cli",
  version: "0.61.0",
  program: "gemini",
  async prepare({ home, project }) {
    await mkdir(join(home, ".gemini"), { recursive: true });
    const settings = {
      general: { disableAutoUpdate: true, disableUpdateNag: true, enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      security: { auth: { selectedType: "gemini-api-key" } },
    };
    await writeFile(join(home, ".gemini/settings.json"), JSON.stringify(settings));
    await writeFile(join(home, ".gemini/trustedFolders.json"), JSON.stringify({ [project]: "TRUST_FOLDER" }));
  },
  environment: ({ modelUrl }) => ({ GEMINI_API_KEY: "none", GOOGLE_GEMINI_BASE_URL: modelUrl }),
  arguments: (prompt, { isPermissive }) => [
    "--model",
    "gemini-2.5-pro",
    ...(isPermissive ? ["--approval-mode", "yolo"] : []),
    "--prompt",
    prompt,
  ],
  toolName: (name) => ({ name: `mcp_narthex_${name}` }),
  ownTools: (path) => [
    { name: "run_shell_command", input: { command: `touch ${path}`, description: "Create a file" } },
    { name: "write_file", input: { file_path: path, content: "x" } },
  ],
};
