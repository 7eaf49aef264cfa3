import { access, constants, stat } from "node:fs/promises";
import { join } from "node:path";
import { findInheritedFiles } from "./inherited-files.ts";
import type { SandboxMachine } from "./sandbox-machine.ts";

/** Why no sandbox can work here, and what an administrator can do about it. */
export interface MissingMachine {
  readonly problem: string;
  readonly fix: string;
}

export interface MachineOptions {
  /** Must be private to the kernel. */
  readonly directory: string;
  /** Directories in which programs are searched for. */
  readonly path?: readonly string[];
  readonly architecture?: string;
}

const SYSTEM_PATH = ["/usr/local/bin", "/usr/bin", "/bin"];

/** Finds the programs needed for sandboxes. Whether they work here is decided by the self-test. */
export async function findMachine(options: MachineOptions): Promise<SandboxMachine | MissingMachine> {
  const { directory, path = SYSTEM_PATH, architecture = process.arch } = options;
  if (process.platform !== "linux") {
    return { problem: `sandboxes need Linux, and this is ${process.platform}`, fix: "run the kernel on Linux" };
  }
  // SECURITY: a filter for another architecture would match the wrong system calls.
  if (architecture !== "x64" && architecture !== "arm64") {
    return { problem: `there is no filter of system calls for ${architecture}`, fix: "use an x86-64 or arm64 machine" };
  }
  const bubblewrap = await findProgram("bwrap", path);
  if (bubblewrap === undefined) {
    return {
      problem: "bubblewrap is not installed",
      fix: "apt-get install bubblewrap (or your system's package of it)",
    };
  }
  // SECURITY: a setuid bwrap started by an ordinary user is root while it prepares the sandbox.
  if (((await stat(bubblewrap)).mode & SET_UID) !== 0) {
    return {
      problem: `${bubblewrap} is setuid root`,
      fix: `chmod u-s ${bubblewrap}, and allow user namespaces instead`,
    };
  }
  if ((await findProgram("prlimit", ["/usr/bin"])) === undefined) {
    return { problem: "/usr/bin/prlimit is not installed", fix: "apt-get install util-linux" };
  }
  return { bubblewrap, architecture, directory, inherited: findInheritedFiles() };
}

export function isMissing(found: SandboxMachine | MissingMachine): found is MissingMachine {
  return "problem" in found;
}

async function findProgram(name: string, path: readonly string[]): Promise<string | undefined> {
  for (const folder of path) {
    const candidate = join(folder, name);
    try {
      await access(candidate, constants.X_OK);
      return candidate;
    } catch {
      // Not in this directory.
    }
  }
  return undefined;
}

const SET_UID = 0o4000;
