import { chmod, chown, lchown, mkdir, mkdtemp, readdir, rm } from "node:fs/promises";
import { promisify } from "node:util";
import { execFile } from "node:child_process";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { FileResult, FileOperation, PreparedOperation } from "@narthex/kernel";
import {
  createWorkspaceFiles,
  type WorkspaceFilesDriver,
  type WorkspaceFilesOptions,
} from "../create-workspace-files.ts";

/** The user that workers run as when the tests run as root. */
export const TEST_USER = 1000;

/** A workspace with files beside it that must not be reached, and the real driver. */
export interface ScratchWorkspace extends AsyncDisposable {
  readonly files: WorkspaceFilesDriver;
  /** Directory with all its files. */
  readonly directory: string;
  readonly workspace: string;
  /** Returns a path in the workspace. */
  at(path: string): string;
  /** Changes the owner of everything in the workspace to the user that workers run as. */
  own(): Promise<void>;
  prepare(operation: FileOperation, signal?: AbortSignal): Promise<PreparedOperation>;
  /** Prepares and commits an operation. */
  run(operation: FileOperation): Promise<FileResult>;
  /** Lists names in the workspace that start like temporary files. */
  leftOvers(): Promise<string[]>;
  /** Waits until there is at least one such name. */
  untilLeftOver(): Promise<[string, ...string[]]>;
}

export async function createScratchWorkspace(options: Partial<WorkspaceFilesOptions> = {}): Promise<ScratchWorkspace> {
  const directory = await mkdtemp(join(tmpdir(), "narthex-files-"));
  await chmod(directory, 0o755);
  const workspace = join(directory, "workspace");
  await mkdir(workspace);
  const files = createWorkspaceFiles({ machine: testMachine(join(directory, "machine")), owner: "7e57", ...options });
  const prepare = (operation: FileOperation, signal?: AbortSignal): Promise<PreparedOperation> =>
    files.prepare({ workspace, access: accessOf(operation) }, operation, signal ?? new AbortController().signal);
  const scratch: ScratchWorkspace = {
    files,
    directory,
    workspace,
    at: (path) => join(workspace, path),
    own: () => own(workspace),
    prepare,
    run: async (operation) => await (await prepare(operation)).commit(),
    leftOvers: () => findLeftOvers(workspace),
    async untilLeftOver() {
      for (;;) {
        const [first, ...others] = await findLeftOvers(workspace);
        if (first !== undefined) return [first, ...others];
      }
    },
    async [Symbol.asyncDispose]() {
      await files.close();
      await rm(directory, { recursive: true, force: true });
    },
  };
  await scratch.own();
  return scratch;
}

export function testMachine(directory: string): WorkspaceFilesOptions["machine"] {
  return {
    bubblewrap: "/usr/bin/bwrap",
    architecture: process.arch === "arm64" ? "arm64" : "x64",
    inherited: [],
    directory,
  };
}

function accessOf({ kind }: FileOperation): "read" | "write" {
  return kind === "read" || kind === "list" || kind === "inspect" ? "read" : "write";
}

async function own(path: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  await chown(path, TEST_USER, TEST_USER);
  for (const entry of await readdir(path, { withFileTypes: true, encoding: "buffer" })) {
    const inside = Buffer.concat([Buffer.from(`${path}/`), entry.name]);
    if (entry.isDirectory()) await own(inside.toString());
    else await lchown(inside, TEST_USER, TEST_USER);
  }
}

async function findLeftOvers(workspace: string): Promise<string[]> {
  const { stdout } = await promisify(execFile)("find", [workspace, "-name", ".narthex-*"]);
  return stdout.split("\n").filter((line) => line !== "");
}
