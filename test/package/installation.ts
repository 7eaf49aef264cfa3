import assert from "node:assert/strict";
import { type ChildProcessByStdio, spawn } from "node:child_process";
import { chmod, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { delimiter, dirname, join } from "node:path";
import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { copyProgram } from "../../scripts/build/build-command.ts";
import { endKernels, kernelsOf } from "../../scripts/build/on-demand-kernels.ts";
import { packNarthex } from "../../scripts/build/pack-narthex.ts";
import { REPOSITORY } from "../../scripts/checks/run-tool.ts";
import { type CommandEnd, type CommandOptions, runCommand } from "../repository/run-command.ts";

export const PINNED_NODE = `node-${process.platform}-${process.arch}`;

/** The package as somebody has it who installed its tarball and nothing else. */
export interface Installation {
  readonly tarball: string;
  readonly folder: string;
  /** The command that npm linked. */
  readonly program: string;
  /** Of a user who has nothing else, on the Node that runs this. */
  readonly environment: NodeJS.ProcessEnv;
  run(words: readonly string[], options?: CommandOptions): Promise<CommandEnd>;
  /** Starts the command and leaves it running; what still runs is ended by `remove`. */
  start(words: readonly string[]): ChildProcessByStdio<Writable, Readable, Readable>;
  remove(): Promise<void>;
}

/** Packs what `npm test` built, or builds it, installs the tarball in a folder of its own, and gives the command a user's home of its own. */
export async function createInstallation(): Promise<Installation> {
  const root = await mkdtemp(join(tmpdir(), "narthex-package-"));
  const folder = join(root, "program");
  const home = join(root, "user");
  // Programs that a kernel of root's runs are somebody else, who must be able to get there.
  await chmod(root, 0o711);
  await mkdir(folder);
  await mkdir(home);
  const built = process.env["NARTHEX_TEST_COMMAND"];
  const write = built === undefined ? undefined : (stage: string) => copyProgram(built, stage);
  const tarball = await packNarthex({ directory: join(root, "tarball"), ...(write && { write }) });
  await writeFile(join(folder, "package.json"), JSON.stringify({ name: "program", private: true, type: "module" }));
  // With a Node beside it, as a user of an older one has it: a link, since to unpack that again takes seconds.
  const node = join(REPOSITORY, "node_modules", PINNED_NODE);
  const install = ["install", "--prefer-offline", "--no-audit", "--no-fund", "--loglevel=error", tarball, node];
  const end = await runCommand("npm", install, { cwd: folder });
  assert.equal(end.code, 0, end.output);

  const program = join(folder, "node_modules", ".bin", "narthex");
  const path = [dirname(process.execPath), process.env["PATH"]].join(delimiter);
  const environment = { HOME: home, NARTHEX_DATA: join(home, "kernel"), PATH: path };
  const children = new Set<ChildProcessByStdio<Writable, Readable, Readable>>();
  return {
    tarball,
    folder,
    program,
    environment,
    run: (words, options = {}) => runCommand(program, words, { cwd: folder, env: environment, ...options }),
    start(words) {
      const child = spawn(program, words, { cwd: folder, env: environment, stdio: ["pipe", "pipe", "pipe"] });
      children.add(child);
      child.on("exit", () => children.delete(child));
      return child;
    },
    async remove() {
      for (const child of children) child.kill("SIGKILL");
      await endKernels(() => kernelsOf(root));
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Sends SIGTERM and gives the exit code and what was still said. */
export async function stop(child: ChildProcessByStdio<Writable, Readable, Readable>): Promise<number | null> {
  const said = text(child.stderr);
  const ended = new Promise<number | null>((resolve) => child.once("exit", resolve));
  child.kill("SIGTERM");
  const code = await ended;
  assert.equal(code, 0, await said);
  return code;
}
