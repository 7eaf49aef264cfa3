import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** Where everything in a kernel's home lies. */
export interface HomePaths {
  readonly home: string;
  readonly configuration: string;
  /** `.cedar` files. */
  readonly policy: string;
  /** Policies that were found valid, ready for use. */
  readonly checkedPolicy: string;
  readonly keys: string;
  /** The Merkle log: tiles, checkpoints, public keys. */
  readonly merkle: string;
  /** Tools that were added, each in a directory of its own. */
  readonly tools: string;
  readonly store: string;
  readonly content: string;
  /** The homes that programs of each workspace have. */
  readonly cache: string;
  /** The state of protected paths before programs ran that have not ended yet, one file for each workspace. */
  readonly guards: string;
  /** The programs of calls that have not ended, for the kernel that follows one that was killed. */
  readonly programs: string;
  /** What sandboxes are made with. */
  readonly sandbox: string;
  /** What belongs to the kernel that runs now: lock, sockets, tokens. */
  readonly run: string;
  readonly lock: string;
  readonly holder: string;
  /** Locked by a kernel that starts and waits for the home. */
  readonly claim: string;
  /** What a kernel that was started on demand writes on its error stream. */
  readonly kernelLog: string;
  /** The sessions whose clients were connected, for a kernel that takes over. */
  readonly connectedSessions: string;
  readonly adminToken: string;
  readonly approveToken: string;
  readonly readToken: string;
  /** The id of the session that `serve --first-session` opened. */
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

/** `NARTHEX_DATA`, else `~/.narthex`. */
export function defaultHomePath(environment: NodeJS.ProcessEnv): string {
  const named = environment["NARTHEX_DATA"];
  return resolve(named === undefined || named === "" ? join(homedir(), ".narthex") : named);
}
