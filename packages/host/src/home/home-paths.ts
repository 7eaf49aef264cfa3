import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** Paths in a kernel's home. */
export interface HomePaths {
  readonly home: string;
  readonly configuration: string;
  /** Directory with the `.cedar` files. */
  readonly policy: string;
  /** Policies that were validated and are ready for use. */
  readonly checkedPolicy: string;
  readonly keys: string;
  /** The Merkle tree: tiles, checkpoints, public keys. */
  readonly merkle: string;
  /** Added tools, each in its own directory. */
  readonly tools: string;
  readonly store: string;
  readonly content: string;
  /** Home directories of programs, one for each workspace. */
  readonly cache: string;
  /** State of protected paths before the programs that still run were started, one file for each workspace. */
  readonly guards: string;
  /** Programs of calls that have not ended, for the kernel that starts after a crash. */
  readonly programs: string;
  /** Files from which sandboxes are created. */
  readonly sandbox: string;
  /** Files of the running kernel: lock, sockets, tokens. */
  readonly run: string;
  readonly lock: string;
  readonly holder: string;
  /** Locked by a kernel that starts and waits for the home. */
  readonly claim: string;
  /** Standard error of a kernel that was started on demand. */
  readonly kernelLog: string;
  /** Sessions whose clients were connected, for a kernel that takes over. */
  readonly connectedSessions: string;
  readonly adminToken: string;
  readonly approveToken: string;
  readonly readToken: string;
  /** Id of the session that `serve --first-session` opened. */
  readonly firstSession: string;
}

export function homePaths(home: string): HomePaths {
  const run = join(home, "run");
  return {
    home,
    configuration: join(home, "narthex.yaml"),
    policy: join(home, "policy"),
    checkedPolicy: join(home, "checked"),
    keys: join(home, "keys"),
    merkle: join(home, "log"),
    tools: join(home, "tools"),
    store: join(home, "store"),
    content: join(home, "content"),
    cache: join(home, "cache"),
    guards: join(home, "guards"),
    programs: join(run, "programs"),
    sandbox: join(run, "sandbox"),
    run,
    lock: join(run, "lock.db"),
    claim: join(run, "claim.db"),
    holder: join(run, "holder.json"),
    kernelLog: join(run, "kernel.log"),
    connectedSessions: join(run, "attended.json"),
    adminToken: join(run, "admin.token"),
    approveToken: join(run, "approve.token"),
    readToken: join(run, "read.token"),
    firstSession: join(run, "first-session"),
  };
}

/** Returns `NARTHEX_DATA`, or `~/.narthex` by default. */
export function defaultHomePath(environment: NodeJS.ProcessEnv): string {
  const named = environment["NARTHEX_DATA"];
  return resolve(named === undefined || named === "" ? join(homedir(), ".narthex") : named);
}
