import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { AgentClient } from "../agent-client.ts";

export const opencode: AgentClient = {
  name: "opencode",
  title: "opencode",
  package: "opencode-ai",
  version: "1.18.33",
  program: "opencode",
  async prepare({ home, modelUrl }) {
    await mkdir(join(home, ".config/opencode"), { recursive: true });
    const model = {
      name: "scripted",
      tool_call: true,
      attachment: true,
      limit: { context: 200_000, output: 8000 },
      modalities: { input: ["text", "image", "pdf"], output: ["text"] },
    };
    const settings = {
      model: "loopback/scripted",
      small_model: "loopback/scripted",
      autoupdate: false,
      share: "disabled",
      provider: {
        loopback: {
          npm: "@ai-sdk/openai-compatible",
          name: "loopback",
          options: { baseURL: `${modelUrl}/v1`, apiKey: "none" },
          models: { scripted: model },
        },
      },
    };
    await writeFile(join(home, ".config/opencode/opencode.json"), JSON.stringify(settings));
  },
  environment: () => ({
    OPENCODE_DISABLE_AUTOUPDATE: "1",
    OPENCODE_DISABLE_MODELS_FETCH: "1",
    OPENCODE_DISABLE_LSP_DOWNLOAD: "1",
    OPENCODE_DISABLE_DEFAULT_PLUGINS: "1",
  }),
  arguments: (prompt, { isPermissive }) => ["run", ...(isPermissive ? ["--auto"] : []), prompt],
  toolName: (name) => ({ name: `narthex_${name}` }),
  ownTools: (path) => [
    { name: "bash", input: { command: `touch ${path}`, description: "Create a file" } },
    { name: "write", input: { filePath: path, content: "x" } },
  ],
};
