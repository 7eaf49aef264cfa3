import { execFile } from "node:child_process";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { promisify } from "node:util";

const run = promisify(execFile);

/** Git as a person on the host runs it, without that person's own settings. */
export async function hostGit(directory: string, ...words: readonly string[]): Promise<string> {
  const environment = { PATH: process.env["PATH"] ?? "", HOME: "/nonexistent", GIT_CONFIG_NOSYSTEM: "1" };
  const { stdout } = await run("git", ["-c", "safe.directory=*", "-C", directory, ...words], {
    env: environment,
  }).catch((fault: unknown) => ({ stdout: fault instanceof Error && "stdout" in fault ? String(fault.stdout) : "" }));
  return stdout.trim();
}

/** A repository with a submodule's files, a hooks directory by configuration, and one commit. */
export async function makeRepository(directory: string): Promise<void> {
  await mkdir(directory, { recursive: true });
  await hostGit(directory, "init", "-q");
  await writeFile(join(directory, "file"), "one\n");
  await hostGit(directory, "add", ".");
  await hostGit(directory, "-c", "user.name=a", "-c", "user.email=a@b", "commit", "-q", "-m", "first");
}
