import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentClient } from "../agent-client.ts";

export const qwen: AgentClient = {
  name: "qwen",
  title: "Qwen Code",
  package: "@qwen-code/qwen-code",
  version: "0.24.4",
  program: "qwen",
  async prepare({ home, project }) {
    await mkdir(join(home, ".qwen"), { recursive: true });
    const settings = {
      general: { disableAutoUpdate: true, disableUpdateNag: true, enableAutoUpdate: false },
      privacy: { usageStatisticsEnabled: false },
      telemetry: { enabled: false },
      security: { auth: { selectedType: "openai" } },
      // The client knows only from a model's name whether it supports images.
      model: { generationConfig: { modalities: { image: true, pdf: true } } },
    };
    await writeFile(join(home, ".qwen/settings.json"), JSON.stringify(settings));
    await writeFile(join(home, ".qwen/trustedFolders.json"), JSON.stringify({ [project]: "TRUST_FOLDER" }));
  },
  acceptServer: ["mcp", "approve", "narthex"],
  environment: ({ modelUrl }) => ({
    OPENAI_API_KEY: "none",
    OPENAI_BASE_URL: `${modelUrl}/v1`,
    OPENAI_MODEL: "scripted",
  }),
  arguments: (prompt, { isPermissive }) => [...(isPermissive ? ["--yolo"] : []), "--prompt", prompt],
  toolName: (name) => ({ name: `mcp__narthex__${name}` }),
  ownTools: (path) => [
    {
      name: "run_shell_command",
      input: { command: `touch ${path}`, description: "Create a file", is_background: false },
    },
    { name: "write_file", input: { file_path: path, content: "x" } },
  ],
};
