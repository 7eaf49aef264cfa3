import { certificateAuthorities } from "./certificate-authorities.ts";
import { cpuSeconds, type ProcessLimits, type SandboxPlan } from "./sandbox-plan.ts";
import { SYSTEM_LINKS, type SystemFiles } from "./system-files.ts";

/** Numbers of the file descriptors that bubblewrap is started with. */
export interface SandboxDescriptors {
  readonly status: number;
  readonly seccomp: number;
  readonly block: number;
  /** By file name in `/etc`. */
  readonly etc: Readonly<Record<keyof SystemFiles, number>>;
  /** Descriptor of the plan's first content; the others follow in order. */
  readonly contents: number;
}

/**
 * Creates bubblewrap's options, in the order in which they take effect. They are passed through a file descriptor, so
 * that host paths and the environment do not show in a process list.
 *
 * SECURITY: every namespace is named, because `--unshare-all` only tries. Mount points are created in the fresh root
 * only, never below a directory that a tool can write, except over guarded paths that exist already. The root and
 * `/dev` are remounted read-only last: a tmpfs without a size limit could use up the host's memory.
 */
export function bubblewrapOptions(plan: SandboxPlan, descriptors: SandboxDescriptors): string[] {
  return [
    ["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup", "--unshare-net"],
    ["--disable-userns", "--uid", String(plan.identity.uid), "--gid", String(plan.identity.gid)],
    ["--hostname", "sandbox", "--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"],
    ["--seccomp", String(descriptors.seccomp), "--json-status-fd", String(descriptors.status)],
    ["--block-fd", String(descriptors.block)],
    ["--ro-bind", "/usr", "/usr"],
    ...SYSTEM_LINKS.map(([target, path]) => ["--symlink", target, path]),
    ["--ro-bind-try", "/etc/alternatives", "/etc/alternatives"],
    ["--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"],
    ...certificateAuthorities().map((path) => ["--ro-bind-try", path, path]),
    ...Object.entries(descriptors.etc).map(([name, fd]) => ["--ro-bind-data", String(fd), `/etc/${name}`]),
    ["--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev"],
    // SECURITY: process 1 is bubblewrap's own and runs as the program's user: a program that could write its memory
    // would control when the sandbox ends.
    ["--size", "4096", "--perms", "0555", "--tmpfs", "/proc/1", "--remount-ro", "/proc/1"],
    ["--size", String(SHARED_MEMORY_BYTES), "--tmpfs", "/dev/shm"],
    ["--size", String(plan.temporaryBytes), "--perms", "1777", "--tmpfs", "/tmp"],
    ...plan.mounts.map(({ source, target, access }) => [access === "read" ? "--ro-bind" : "--bind", source, target]),
    ...(plan.contents ?? []).flatMap(({ target, isExecutable }, index) => [
      ["--perms", isExecutable ? "0555" : "0444", "--ro-bind-data", String(descriptors.contents + index), target],
    ]),
    ...plan.symlinks.map(({ target, path }) => ["--symlink", target, path]),
    ...Object.entries(plan.environment).map(([name, value]) => ["--setenv", name, value]),
    ["--remount-ro", "/dev", "--remount-ro", "/", "--chdir", plan.workingDirectory],
  ].flat();
}

/**
 * Wraps a command with its resource limits. They are set inside: outside they would also count the user's other
 * processes, and bubblewrap itself.
 */
export function limitedCommand(limits: ProcessLimits, command: readonly string[]): string[] {
  const both = (amount: number): string => `${amount}:${amount}`;
  return [
    "/usr/bin/prlimit",
    // Soft limit: SIGXCPU, which identifies the cause. Hard limit one second later: SIGKILL.
    `--cpu=${cpuSeconds(limits)}:${cpuSeconds(limits) + 1}`,
    `--data=${both(limits.dataBytes ?? limits.memoryBytes)}`,
    `--nproc=${both(limits.processes)}`,
    `--nofile=${both(limits.openFiles)}`,
    `--fsize=${both(limits.fileBytes)}`,
    "--core=0:0",
    "--",
    ...command,
  ];
}

/**
 * Wraps a command so that it begins when a line arrives on the gate descriptor, and never begins if the descriptor is
 * closed without one.
 *
 * SECURITY: bubblewrap releases its child when the blocking pipe is closed, even by the death of the kernel, and binds
 * the child to its own life only after that. Tested by "that is held back when its kernel is killed does not begin".
 */
export function gatedCommand(gate: number, command: readonly string[]): string[] {
  return ["/bin/sh", "-c", `read -r _ <&${gate} && exec "$@" ${gate}<&-`, "sh", ...command];
}

const SHARED_MEMORY_BYTES = 64 * 1024 * 1024;
