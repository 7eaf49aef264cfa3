import { existsSync } from "node:fs";
import { mkdir, mkdtemp, rename, rm, writeFile } from "node:fs/promises";
import { homedir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import { runProcess } from "../../checks/run-process.ts";
import type { AgentClient } from "./agent-client.ts";

/** The path of an installed client, or why it could not be installed. */
export type Installation = { readonly program: string } | { readonly problem: string };

/** The folder for installed clients: outside the repository, shared by all checkouts of a user. */
export function clientCache(environment: NodeJS.ProcessEnv = process.env): string {
  const base = environment["XDG_CACHE_HOME"] ?? "";
  return join(base === "" ? join(homedir(), ".cache") : base, "narthex", "clients");
}

/** Installs the pinned version with npm unless the cache has it. A folder of the cache is either complete or absent. */
export async function installClient(client: AgentClient, cache: string): Promise<Installation> {
  const folder = join(cache, `${client.name}-${client.version}`);
  const program = join(folder, "node_modules/.bin", client.program);
  if (existsSync(program)) return { program };
  await mkdir(cache, { recursive: true });
  const building = await mkdtemp(join(cache, `.installing-${client.name}-`));
  try {
    await writeFile(join(building, "package.json"), JSON.stringify({ private: true }));
    const problem = await npmInstall(`${client.package}@${client.version}`, building);
    if (problem !== undefined) return { problem };
    if (!existsSync(join(building, "node_modules/.bin", client.program))) {
      return { problem: `the package has no command \`${client.program}\`` };
    }
    await rm(folder, { recursive: true, force: true });
    await rename(building, folder);
    return { program };
  } finally {
    await rm(building, { recursive: true, force: true });
  }
}

async function npmInstall(spec: string, folder: string): Promise<string | undefined> {
  const words = ["install", "--no-audit", "--no-fund", "--loglevel=error", spec];
  // With this Node first on PATH: npm checks `engines` against the Node that it runs on.
  const path = [dirname(process.execPath), process.env["PATH"]].join(delimiter);
  const { code, output } = await runProcess("npm", words, folder, { PATH: path });
  if (code === 0) return undefined;
  const lines = output.split("\n").filter((line) => line.startsWith("npm error"));
  return (lines[1] ?? lines[0] ?? output.trim()).replace(/^npm error\s*/, "").slice(0, 200);
}
