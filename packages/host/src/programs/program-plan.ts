import { KernelError } from "@narthex/contracts";
import type { ContainedProgram, ProgramPlace } from "@narthex/kernel";
import {
  DEFAULT_LIMITS,
  HOME_PATH,
  type ProcessLimits,
  type SandboxIdentity,
  type SandboxMount,
  type SandboxPlan,
  SCRATCH_PATH,
  WORKSPACE_PATH,
} from "../sandbox/sandbox-plan.ts";
import { insideEnvironment, insidePath, toolchainMounts } from "../toolchains/toolchain-plan.ts";
import type { Toolchain } from "../toolchains/toolchain.ts";

export interface PlanParts {
  readonly identity: SandboxIdentity;
  readonly toolchains: readonly Toolchain[];
  /** Parents first; mounted after the workspace they lie in. */
  readonly guards: readonly SandboxMount[];
  /** HOME and the session's scratch directory, if it gets them. */
  readonly homes: readonly SandboxMount[];
}

const TEMPORARY_BYTES = 512 * 1024 * 1024;

/** The sandbox of one program. Its environment is made from nothing. */
export function programPlan(place: ProgramPlace, program: ContainedProgram, parts: PlanParts): SandboxPlan {
  const { toolchains, homes } = parts;
  const hasWorkspace = place.access !== "none";
  const access = place.access === "write" ? "write" : "read";
  const workspace: SandboxMount[] = hasWorkspace
    ? [{ source: place.workspace, target: WORKSPACE_PATH, access }, ...parts.guards]
    : [];
  const files = (program.files ?? []).map(({ source, target }) => ({ source, target, access: "read" }) as const);
  return {
    mounts: [...toolchainMounts(toolchains), ...files, ...homes, ...workspace],
    symlinks: hasWorkspace ? ownName(place.workspace) : [],
    environment: {
      ...insideEnvironment(toolchains),
      PATH: insidePath(toolchains),
      HOME: HOME_PATH,
      USER: "agent",
      LOGNAME: "agent",
      SHELL: "/bin/bash",
      LANG: "C.UTF-8",
      TZ: "UTC",
      TERM: "dumb",
      TMPDIR: "/tmp",
      ...(homes.length > 0 && { NARTHEX_SCRATCH: SCRATCH_PATH }),
      ...program.environment,
    },
    workingDirectory: hasWorkspace ? directoryInside(program.workingDirectory) : "/",
    limits: limitsOf(program),
    temporaryBytes: TEMPORARY_BYTES,
    socketFamilies: ["inet", "inet6"],
    mayFork: place.mayFork,
    identity: parts.identity,
  };
}

/** SECURITY: the last part may be a link; bubblewrap goes there inside the sandbox, where it leads nowhere else. */
function directoryInside(path: string): string {
  if (path === ".") return WORKSPACE_PATH;
  if (path.startsWith("/") || path.split("/").some((part) => part === "" || part === "." || part === "..")) {
    throw new KernelError("PATH_ESCAPE", "a working directory lies in the workspace");
  }
  return `${WORKSPACE_PATH}/${path}`;
}

/** Places that exist inside already, and of which no name can stand for the workspace. */
const TAKEN = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/proc", "/dev", "/workspace"];

/** Absolute paths that the agent was told outside, or that git wrote down, hold inside as well. */
function ownName(workspace: string): SandboxPlan["symlinks"] {
  const isTaken = [...TAKEN, HOME_PATH, SCRATCH_PATH].some((taken) => `${workspace}/`.startsWith(`${taken}/`));
  return isTaken ? [] : [{ target: WORKSPACE_PATH, path: workspace }];
}

function limitsOf({ limits = {} }: ContainedProgram): ProcessLimits {
  const { memoryBytes, cpuMs, processes } = limits;
  return {
    ...DEFAULT_LIMITS,
    ...(memoryBytes !== undefined && { memoryBytes }),
    ...(cpuMs !== undefined && { cpuSeconds: Math.max(1, Math.ceil(cpuMs / 1000)) }),
    ...(processes !== undefined && { processes }),
  };
}
