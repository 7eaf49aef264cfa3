import { KernelError } from "@narthex/contracts";
import { findMachine, isMissing } from "./find-machine.ts";
import { type ControlGroups, findControlGroups } from "./resources/control-groups.ts";
import { SandboxFiles, type SandboxMachine } from "./sandbox-machine.ts";
import type { SandboxPlan } from "./sandbox-plan.ts";
import { runSelfTest, type SelfTestReport } from "./self-test.ts";
import type { BeforeRelease } from "./spawn-sandbox.ts";
import { startContained, type ContainedProgram } from "./start-contained.ts";
import { currentIdentity, findWorkspaceIdentity, type WorkspaceIdentity } from "./workspace-identity.ts";

/**
 * What this host can enforce. `L0`: namespaces, system call filter and control groups. `L1`: namespaces, filter, limits
 * of each process and a watchdog. `L2`: nothing, so no program is run.
 */
export type SandboxLevel = "L0" | "L1" | "L2";

export interface Containment {
  readonly level: SandboxLevel;
  /** For `L2`: the reason, and what an administrator can do. */
  readonly problem: ContainmentProblem | undefined;
  /** Undefined for `L2`. */
  readonly machine: SandboxMachine | undefined;
  readonly selfTest: SelfTestReport | undefined;
  readonly controlGroups: 1 | 2 | undefined;
  identityFor(workspace: string): Promise<WorkspaceIdentity>;
  /** Throws SANDBOX_UNAVAILABLE for `L2`: there is no other way to run a program. */
  start(plan: SandboxPlan, command: readonly string[], beforeRelease?: BeforeRelease): Promise<ContainedProgram>;
  /** Removes the resources of sandboxes. No program may be started afterwards. */
  close(): Promise<void>;
}

export interface ContainmentProblem {
  readonly problem: string;
  readonly fix: string;
  /** Set if bubblewrap's error message is a known one. */
  readonly cause?: ContainmentCause;
}

/**
 * Common reasons why sandboxes are forbidden: AppArmor, restricted user namespaces (by a setting or a container's
 * filter), a container's masked /proc.
 */
export type ContainmentCause = "apparmor" | "namespaces" | "masked-proc";

export interface ContainmentOptions {
  /** Must be private to the kernel. */
  readonly directory: string;
  /** Directories in which bubblewrap is searched for. */
  readonly path?: readonly string[];
  readonly sandboxUid?: number;
}

/** Determines, once, what can be enforced here. The level never changes afterwards. */
export async function openContainment(options: ContainmentOptions): Promise<Containment> {
  const { directory, path } = options;
  const machine = await findMachine({ directory, ...(path !== undefined && { path }) });
  const who = currentIdentity(options.sandboxUid);
  if (isMissing(machine)) return nothingContained(machine, undefined, who);
  const files = new SandboxFiles(machine);
  const tester = who.uid === 0 ? { uid: who.sandboxUid, gid: who.sandboxUid } : { uid: who.uid, gid: who.gid };
  const selfTest = await runSelfTest(machine, files, tester);
  const broken = selfTest.checks.filter((check) => !check.holds);
  if (selfTest.failure !== undefined || broken.length > 0) {
    return nothingContained(
      explainFailure(
        selfTest,
        broken.map((check) => check.name),
      ),
      selfTest,
      who,
    );
  }
  return contained({ machine, files, groups: await findControlGroups(), selfTest, who });
}

type IdentityOptions = Parameters<typeof findWorkspaceIdentity>[1];

interface Parts {
  readonly machine: SandboxMachine;
  readonly files: SandboxFiles;
  readonly groups: ControlGroups | undefined;
  readonly selfTest: SelfTestReport;
  readonly who: IdentityOptions;
}

function contained({ machine, files, groups, selfTest, who }: Parts): Containment {
  return {
    level: groups === undefined ? "L1" : "L0",
    problem: undefined,
    machine,
    selfTest,
    controlGroups: groups?.version,
    identityFor: (workspace) => findWorkspaceIdentity(workspace, who),
    start: (plan, command, beforeRelease) => startContained({ machine, files, groups }, plan, command, beforeRelease),
    close: async () => {
      await Promise.all([files.pipes.close(), groups?.close()]);
    },
  };
}

function nothingContained(
  problem: ContainmentProblem,
  selfTest: SelfTestReport | undefined,
  who: IdentityOptions,
): Containment {
  return {
    level: "L2",
    problem,
    machine: undefined,
    selfTest,
    controlGroups: undefined,
    identityFor: (workspace) => findWorkspaceIdentity(workspace, who),
    start: () => Promise.reject(new KernelError("SANDBOX_UNAVAILABLE", `${problem.problem}: ${problem.fix}`)),
    close: () => Promise.resolve(),
  };
}

interface KnownCause extends Required<ContainmentProblem> {
  readonly pattern: RegExp;
}

/** Known causes by bubblewrap's error message. The first match wins: the last pattern is the most general. */
const CAUSES: readonly KnownCause[] = [
  {
    cause: "apparmor",
    pattern: /setting up uid map: Permission denied|Creating new namespace failed: Permission denied|Failed RTM_NEW/,
    problem: "this system does not let programs use user namespaces (AppArmor, as on Ubuntu)",
    fix: "give bwrap an AppArmor profile with `userns,` (narthex doctor --fix prints it)",
  },
  {
    cause: "masked-proc",
    pattern: /Can't mount proc|mount proc/,
    problem: "a new /proc cannot be mounted here (a container with masked paths)",
    fix: "start the container with `--security-opt systempaths=unconfined`",
  },
  {
    cause: "namespaces",
    pattern: /No permissions to creat(?:e|ing) (?:a )?new namespace|max_\*_namespaces|Operation not permitted/,
    problem: "this system forbids user namespaces (a container's seccomp filter, or a setting of the system)",
    fix: "start the container with `--security-opt seccomp=unconfined --security-opt systempaths=unconfined`, or allow user namespaces",
  },
];

function explainFailure({ failure }: SelfTestReport, broken: readonly string[]): ContainmentProblem {
  const fix = "narthex doctor shows what was tried";
  if (failure === undefined) return { problem: `the sandbox does not hold here: ${broken.join(", ")}`, fix };
  const known = CAUSES.find(({ pattern }) => pattern.test(failure));
  if (known === undefined) return { problem: failure, fix };
  return { problem: `${known.problem}; bubblewrap says: ${failure}`, fix: known.fix, cause: known.cause };
}
