import { execFile } from "node:child_process";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** A server that the Inspector starts, as clients' configuration files name it, or one that it goes to. */
export type InspectedServer =
  | { readonly command: string; readonly args: readonly string[]; readonly env: Readonly<Record<string, string>> }
  | { readonly url: string; readonly token: string };

const PROGRAM = fileURLToPath(import.meta.resolve("@modelcontextprotocol/inspector-cli"));

/** One question of the official Inspector's command line to a server. */
export async function inspect(
  server: InspectedServer,
  ...options: readonly string[]
): Promise<{ readonly code: number; readonly output: string }> {
  const directory = await mkdtemp(join(tmpdir(), "narthex-inspector-"));
  const configuration = join(directory, "mcp.json");
  await writeFile(configuration, JSON.stringify({ mcpServers: { narthex: server } }), { mode: 0o600 });
  const target = "url" in server ? atAddress(server) : ["--config", configuration, "--server", "narthex"];
  // It looks for its own manifest above the directory it runs in.
  const cwd = dirname(PROGRAM);
  try {
    return await new Promise((resolve) => {
      execFile(process.execPath, [PROGRAM, "--cli", ...target, ...options], { cwd }, (error, output, problems) => {
        resolve({ code: error === null ? 0 : Number(error.code), output: `${output}${error ? problems : ""}` });
      });
    });
  } finally {
    await rm(directory, { recursive: true, force: true });
  }
}

/** From a configuration file the command line takes no headers. */
function atAddress({ url, token }: { readonly url: string; readonly token: string }): readonly string[] {
  return [url, "--transport", "http", "--header", `Authorization: Bearer ${token}`];
}
