import { accessSync, constants, rmSync, statfsSync } from "node:fs";
import { mkdtemp } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkOptions, type OpenSessionOptions, type OptionKinds, type Tool } from "@narthex/kernel";
import { checkKernelOptions } from "../check-kernel-options.ts";
import { type CreateKernelOptions, embedKernel, type NarthexKernel, createPolicyWarner } from "../create-kernel.ts";
import type { KernelSession } from "../kernel-session.ts";
import type { TestClock } from "./test-clock.ts";

/** What a test chooses; everything else is as in a new home. */
export interface TestKernelOptions<Tools extends readonly Tool[] = readonly Tool[]>
  extends Pick<CreateKernelOptions<Tools>, "tools" | "policies" | "approver" | "observer" | "log" | "onPolicyWarning"> {
  /** The system clock by default. */
  readonly clock?: TestClock;
}

/** A kernel with its own home and workspace, both removed when it is closed. */
export interface TestKernel<Tools extends readonly Tool[] = readonly Tool[]>
  extends Omit<NarthexKernel<Tools>, "session">,
    AsyncDisposable {
  /** An empty directory, for sessions that name no other. */
  readonly workspace: string;
  session(options?: Partial<OpenSessionOptions>): Promise<KernelSession<Tools>>;
}

const KINDS: OptionKinds<TestKernelOptions> = {
  tools: "list?",
  policies: "list?",
  approver: "object?",
  observer: "object?",
  log: "function?",
  onPolicyWarning: "function?",
  clock: "object?",
};
const MEMORY = "/dev/shm";
/** Enough for a home with a ledger of some thousand calls; containers often have 64 MB of shared memory in all. */
const ROOM_BYTES = 32 * 1024 ** 2;

/**
 * Opens a whole kernel for a test: policy, sandbox, ledger and store are those of `createKernel`. Its home is in memory
 * if this machine has a file system there, so that no test waits for a disk. It opens no door to other processes, so a
 * call that needs an approval fails at once unless there is an `approver`.
 */
export async function openTestKernel<const Tools extends readonly Tool[] = readonly []>(
  options: TestKernelOptions<Tools> = {},
): Promise<TestKernel<Tools>> {
  checkOptions(options, KINDS, "openTestKernel");
  const { clock, ...given } = options;
  checkKernelOptions(given);
  const data = await mkdtemp(join(homeFolder(), "narthex-test-home-"));
  const workspace = await mkdtemp(join(tmpdir(), "narthex-test-workspace-"));
  const clear = removeOnExit(data, workspace);
  try {
    const own = { command: "a test", isBrief: true, onPolicyWarning: createPolicyWarner(options), data };
    const { openKernel } = await import("../open-kernel.ts");
    const opened = await openKernel({ ...given, ...own }, clock);
    return toTestKernel(embedKernel<Tools>(opened), workspace, clear);
  } catch (fault) {
    clear();
    throw fault;
  }
}

/** Directories of kernels that were not closed yet. */
const undeletedDirectories = new Set<string>();

/**
 * Returns a function that removes the directories; they are also removed at the end of the process, for a test that
 * failed before it closed its kernel.
 */
function removeOnExit(...directories: readonly string[]): () => void {
  if (undeletedDirectories.size === 0) process.once("exit", () => removeAll([...undeletedDirectories]));
  for (const directory of directories) undeletedDirectories.add(directory);
  return () => removeAll(directories);
}

function removeAll(directories: readonly string[]): void {
  for (const directory of directories) {
    rmSync(directory, { recursive: true, force: true });
    undeletedDirectories.delete(directory);
  }
}

function toTestKernel<Tools extends readonly Tool[]>(
  kernel: NarthexKernel<Tools>,
  workspace: string,
  clear: () => void,
): TestKernel<Tools> {
  async function close(closing?: { readonly graceMs?: number }): Promise<void> {
    await kernel.close(closing);
    clear();
  }
  return {
    ...kernel,
    get closing() {
      return kernel.closing;
    },
    workspace,
    // As root, tools can only write to a directory that belongs to another user.
    session: (open = {}) => kernel.session({ workspace, ...(isOwnRoot(open) && { adopt: true }), ...open }),
    close,
    [Symbol.asyncDispose]: () => close({ graceMs: 0 }),
  };
}

function isOwnRoot({ workspace }: Partial<OpenSessionOptions>): boolean {
  return workspace === undefined && process.getuid?.() === 0;
}

function homeFolder(): string {
  try {
    accessSync(MEMORY, constants.W_OK | constants.X_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    return bavail * bsize >= ROOM_BYTES ? MEMORY : tmpdir();
  } catch {
    return tmpdir();
  }
}
