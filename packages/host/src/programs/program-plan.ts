import { KernelError } from "@narthex/contracts";
import type { SandboxedProgram, ProgramContent, SandboxProfile } from "@narthex/kernel";
import {
  DEFAULT_LIMITS,
  type FileIdentity,
  HOME_PATH,
  type ProcessLimits,
  type SandboxIdentity,
  type SandboxMount,
  type SandboxPlan,
  SCRATCH_PATH,
  WORKSPACE_PATH,
} from "../sandbox/sandbox-plan.ts";
import { networkPlan } from "./network-plan.ts";
import { toolchainEnvironment, toolchainPath, toolchainMounts } from "../toolchains/toolchain-plan.ts";
import type { Toolchain } from "../toolchains/toolchain.ts";

export interface PlanParts {
  readonly identity: SandboxIdentity;
  /** Identity of the workspace directory: the mount is compared with it before anything runs. */
  readonly directory: FileIdentity;
  readonly toolchains: readonly Toolchain[];
  /** Parents first; mounted after the workspace that contains them. */
  readonly guards: readonly SandboxMount[];
  /** HOME and the session's scratch directory, if the program gets them. */
  readonly homes: readonly SandboxMount[];
}

/**
 * Ignores directories that look like bare repositories unless explicitly named, and disables configured file system
 * monitors: otherwise `git status` would run commands planted in such a directory.
 */
const SAFE_GIT_SETTINGS = [
  ["safe.bareRepository", "explicit"],
  ["core.fsmonitor", "false"],
] as const;

const TEMPORARY_BYTES = 512 * 1024 * 1024;

/** Plans the sandbox of one program. No variable is inherited from the kernel's environment. */
export function programPlan(place: SandboxProfile, program: SandboxedProgram, parts: PlanParts): SandboxPlan {
  const { toolchains, homes } = parts;
  const hasWorkspace = place.access !== "none";
  const access = place.access === "write" ? "write" : "read";
  const workspace: SandboxMount[] = hasWorkspace
    ? [{ source: place.workspace, target: WORKSPACE_PATH, access, guard: parts.directory }, ...parts.guards]
    : [];
  const files = (program.files ?? []).map(({ source, target }) => ({ source, target, access: "read" }) as const);
  const network = networkPlan(place.network);
  const mounts = [...toolchainMounts(toolchains), ...files, ...homes, ...network.mounts, ...workspace];
  return {
    mounts,
    symlinks: hasWorkspace ? toWorkspaceSymlinks(place.workspace, mounts) : [],
    ...(program.contents !== undefined && { contents: program.contents.map(requireUnderOpt) }),
    environment: {
      ...toolchainEnvironment(toolchains),
      PATH: toolchainPath(toolchains),
      HOME: HOME_PATH,
      USER: "agent",
      LOGNAME: "agent",
      SHELL: "/bin/bash",
      LANG: "C.UTF-8",
      TZ: "UTC",
      TERM: "dumb",
      TMPDIR: "/tmp",
      ...gitSettings([...SAFE_GIT_SETTINGS, ...network.git]),
      ...network.environment,
      ...(homes.length > 0 && { NARTHEX_SCRATCH: SCRATCH_PATH }),
      ...program.environment,
    },
    workingDirectory: hasWorkspace ? toSandboxDirectory(program.workingDirectory) : "/",
    limits: limitsOf(place, program),
    temporaryBytes: TEMPORARY_BYTES,
    // SECURITY: the forwarder needs a unix socket; the program itself is denied them: see `withGateForwarder`.
    socketFamilies: place.network === undefined ? ["inet", "inet6"] : ["unix", "inet", "inet6"],
    // The forwarder is a second process; the command itself may still not fork: see `withGateForwarder`.
    mayFork: place.mayFork || place.network !== undefined,
    identity: parts.identity,
  };
}

/** Whether nothing is writable but the workspace, its home and the session's scratch directory. */
export function writesOwnOnly({ mounts }: SandboxPlan): boolean {
  return mounts.every(({ access, target }) => {
    const isHome = target === HOME_PATH || target === SCRATCH_PATH;
    return access === "read" || isHome || target === WORKSPACE_PATH || target.startsWith(`${WORKSPACE_PATH}/`);
  });
}

/** Encodes git settings as environment variables. */
function gitSettings(settings: readonly (readonly [key: string, value: string])[]): Record<string, string> {
  const variables: Record<string, string> = { GIT_CONFIG_COUNT: String(settings.length) };
  settings.forEach(([key, value], index) => {
    variables[`GIT_CONFIG_KEY_${index}`] = key;
    variables[`GIT_CONFIG_VALUE_${index}`] = value;
  });
  return variables;
}

/**
 * SECURITY: bubblewrap creates the parent directories of the target, so they must never be in a directory that a tool
 * can write.
 */
function requireUnderOpt(content: ProgramContent): ProgramContent {
  if (!CONTENT_PATH.test(content.target) || content.target.split("/").includes("..")) {
    throw new KernelError("SANDBOX_ERROR", "files made of bytes lie below /opt");
  }
  return content;
}

const CONTENT_PATH = /^\/opt\/[^/\0]+(?:\/[^/\0]+)*$/;

/** SECURITY: the last part may be a link; bubblewrap resolves it inside the sandbox, where it cannot lead outside. */
function toSandboxDirectory(path: string): string {
  if (path === ".") return WORKSPACE_PATH;
  if (path.startsWith("/") || path.split("/").some((part) => part === "" || part === "." || part === "..")) {
    throw new KernelError("PATH_ESCAPE", "a working directory lies in the workspace");
  }
  return `${WORKSPACE_PATH}/${path}`;
}

/** Paths that already exist inside and so cannot be links to the workspace. */
const TAKEN = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32", "/etc", "/proc", "/dev"];

/**
 * Links the workspace's host path to its path inside, so that absolute paths known to the agent or written by git
 * remain valid.
 */
function toWorkspaceSymlinks(workspace: string, mounts: readonly SandboxMount[]): SandboxPlan["symlinks"] {
  const isTaken = [...TAKEN, ...mounts.map(({ target }) => target)].some(
    (place) => `${workspace}/`.startsWith(`${place}/`) || `${place}/`.startsWith(`${workspace}/`),
  );
  return isTaken ? [] : [{ target: WORKSPACE_PATH, path: workspace }];
}

function limitsOf({ cpu }: SandboxProfile, { limits = {} }: SandboxedProgram): ProcessLimits {
  const { memoryBytes, processes, cpuMs = DEFAULT_LIMITS.cpuMs } = limits;
  return {
    ...DEFAULT_LIMITS,
    ...(memoryBytes !== undefined && { memoryBytes }),
    cpuMs: Math.min(cpuMs, cpu?.limitMs ?? cpuMs),
    ...(processes !== undefined && { processes }),
  };
}
