import type { GIT_OPERATIONS } from "@narthex/contracts";
import type { Narrowing } from "@narthex/kernel";

export type GitOperationName = (typeof GIT_OPERATIONS)[number];

export interface GitOperationFacts extends Required<Omit<Narrowing, "timeoutMs" | "maxCpuMs">> {
  /** The name of git's command. */
  readonly command: string;
  /** Changes neither files nor references nor configuration, and takes no locks. */
  readonly readOnly: boolean;
  readonly writesWorktree: boolean;
  /** Needs a writable `.git/config`; its changes are compared with `isExpectedConfigChange`. */
  readonly writesConfig: boolean;
  readonly network: boolean;
}

const READS = facts({ effects: ["process_spawn", "fs_read"], tier: "read_only", readOnly: true });
const WRITES = facts({ effects: ["process_spawn", "fs_read", "fs_write"] });
const RECEIVES = facts({
  effects: ["process_spawn", "fs_read", "fs_write", "net_read"],
  determinism: "external",
  network: true,
});

/** The properties of each operation that the policy and the sandbox need. */
export const GIT_OPERATION_FACTS: Readonly<Record<GitOperationName, GitOperationFacts>> = {
  CLONE: { ...RECEIVES, command: "clone", writesWorktree: true, writesConfig: true },
  // Its `--set-upstream` is not allowed, so the configuration does not change.
  FETCH: { ...RECEIVES, command: "fetch" },
  PULL: { ...RECEIVES, command: "pull", writesWorktree: true, writesConfig: true },
  DIFF: { ...READS, command: "diff" },
  COMMIT: { ...WRITES, command: "commit" },
  PUSH: {
    ...RECEIVES,
    command: "push",
    effects: [...RECEIVES.effects, "net_write"],
    tier: "privileged",
    writesConfig: true,
  },
  STATUS: { ...READS, command: "status" },
  LOG: { ...READS, command: "log" },
  BRANCH: { ...WRITES, command: "branch", writesConfig: true },
  CHECKOUT: { ...WRITES, command: "checkout", writesWorktree: true, writesConfig: true },
  MERGE: { ...WRITES, command: "merge", writesWorktree: true },
  REBASE: { ...WRITES, command: "rebase", writesWorktree: true },
  ADD: { ...WRITES, command: "add" },
  RESET: { ...WRITES, command: "reset", writesWorktree: true },
  STASH: { ...WRITES, command: "stash", writesWorktree: true },
  TAG: { ...WRITES, command: "tag" },
  REMOTE: { ...WRITES, command: "remote", writesConfig: true },
  SHOW: { ...READS, command: "show" },
};

export function isGitOperation(name: string): name is GitOperationName {
  return Object.hasOwn(GIT_OPERATION_FACTS, name);
}

const EXPECTED_CHANGES: Readonly<Partial<Record<GitOperationName, RegExp>>> = {
  // The configuration of a clone is new; `filter.`, `include.` and the like never come from a remote.
  CLONE:
    /^(?:core\.(?:repositoryformatversion|filemode|bare|logallrefupdates|symlinks|ignorecase|precomposeunicode|sparsecheckout|sparsecheckoutcone)|index\.sparse|extensions\.(?:objectformat|refstorage|partialclone|worktreeconfig)|remote\..+\.(?:url|fetch|mirror|tagopt|promisor|partialclonefilter)|branch\..+\.(?:remote|merge|rebase)|submodule\.active)$/s,
  PULL: /^branch\..+\.(?:remote|merge|rebase)$/s,
  PUSH: /^branch\..+\.(?:remote|merge|rebase)$/s,
  BRANCH: /^branch\..+\.(?:remote|merge|rebase|pushremote|description)$/s,
  CHECKOUT: /^branch\..+\.(?:remote|merge|rebase)$/s,
  REMOTE:
    /^(?:remote\.pushdefault|remote\..+\.(?:url|pushurl|fetch|push|mirror|tagopt)|branch\..+\.(?:remote|merge|rebase|pushremote))$/s,
};

/** Whether an operation that writes the configuration may change this key. Every other change is reverted. */
export function isExpectedConfigChange(operation: GitOperationName, key: string): boolean {
  return EXPECTED_CHANGES[operation]?.test(key) ?? false;
}

type Facts = Omit<GitOperationFacts, "command">;

function facts(changes: Partial<Facts> & Pick<Facts, "effects">): Facts {
  return {
    tier: "side_effecting",
    determinism: "nondeterministic",
    readOnly: false,
    writesWorktree: false,
    writesConfig: false,
    network: false,
    ...changes,
  };
}
