import { mkdir, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";

/** Configurations that `narthex connect` does not write. */
export async function connectByHand(client: string, project: string, narthex: string): Promise<void> {
  const words = [narthex, "mcp", "--workspace", project, "--agent", client];
  const server = { command: process.execPath, args: words, trust: true, timeout: 600_000 };
  const off = ["run_shell_command", "write_file", "replace", "web_fetch", "google_web_search", "read_file"];
  const files: Record<string, [string, string]> = {
    codex: [
      ".codex/config.toml",
      [
        `web_search = "disabled"`,
        `[features]`,
        ...["shell_tool", "unified_exec", "view_image", "multi_agent"].map((name) => `${name} = false`),
        `[mcp_servers.narthex]`,
        `command = ${JSON.stringify(process.execPath)}`,
        `args = ${JSON.stringify(words)}`,
        `required = true`,
        `default_tools_approval_mode = "approve"`,
        `tool_timeout_sec = 3600`,
        ``,
      ].join("\n"),
    ],
    opencode: [
      "opencode.json",
      JSON.stringify({
        mcp: { narthex: { type: "local", command: [process.execPath, ...words], enabled: true } },
        permission: {
          ...Object.fromEntries(
            ["bash", "edit", "webfetch", "websearch", "external_directory", "task", "skill"].map((n) => [n, "deny"]),
          ),
          "narthex_*": "allow",
        },
      }),
    ],
    gemini: [".gemini/settings.json", JSON.stringify({ mcpServers: { narthex: server }, tools: { exclude: off } })],
    qwen: [".qwen/settings.json", JSON.stringify({ mcpServers: { narthex: server }, tools: { exclude: off } })],
  };
  const [name, content] = files[client] ?? ["", ""];
  await mkdir(dirname(join(project, name)), { recursive: true });
  await writeFile(join(project, name), content);
}
