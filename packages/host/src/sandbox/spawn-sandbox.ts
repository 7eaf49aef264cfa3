import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { type FileHandle, open } from "node:fs/promises";
import { Duplex, PassThrough, type Readable, Writable } from "node:stream";
import { KernelError } from "@narthex/contracts";
import { bubblewrapOptions, gatedCommand, limitedCommand } from "./bubblewrap-options.ts";
import { guardsOf, type PinnedGuard, verifyGuards } from "./guards.ts";
import type { OutputPipe } from "./named-pipes.ts";
import type { SandboxFiles, SandboxMachine } from "./sandbox-machine.ts";
import { CHANNEL_DESCRIPTOR, type SandboxPlan } from "./sandbox-plan.ts";
import { followStatus, type SandboxStatus } from "./sandbox-status.ts";

/** A program that is running in its sandbox, or about to. */
export interface SandboxedProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The supervisor's end of the channel, if the plan has one. */
  readonly channel?: Duplex | undefined;
  /** Host pid of the first process inside. */
  readonly pid: Promise<number>;
  /** Resolves when the program has ended; processes that it left behind are being killed. Rejects with SANDBOX_ERROR if the sandbox itself failed. */
  readonly ended: Promise<{ readonly exitCode: number }>;
  /** Kills every process inside at once. */
  kill(): void;
}

/**
 * Called with the first process inside while it is held back, before the program begins: to add it to a control group,
 * for example.
 */
export type BeforeRelease = (pid: number) => Promise<void>;

/**
 * Starts a program in its own sandbox.
 *
 * SECURITY: bubblewrap never runs as root: even with every namespace and no capability, a process that is root outside
 * can write `/proc/sys`. Only the files listed here are inherited.
 */
export async function spawnSandbox(
  machine: SandboxMachine,
  files: SandboxFiles,
  plan: SandboxPlan,
  command: readonly string[],
  beforeRelease?: BeforeRelease,
): Promise<SandboxedProcess> {
  if (plan.identity.uid === 0) throw new KernelError("SANDBOX_ERROR", "a sandbox is never started as root");
  refuseLoaderVariables(plan.environment);
  const guards = guardsOf(plan.mounts);
  const { contents = [], hasChannel = false } = plan;
  if (hasChannel && contents.length > 0) throw new KernelError("SANDBOX_ERROR", "a channel excludes contents");
  const [opened, outputs] = await openAll(files, plan);
  let isStarted = false;
  try {
    const marker = `/.sandbox-${randomBytes(12).toString("hex")}`;
    const marked = { ...plan, symlinks: [...plan.symlinks, { target: "/", path: marker }] };
    const options = bubblewrapOptions(marked, DESCRIPTORS);
    // SECURITY: options are separated by NULs. A NUL in a variable's value would start an option chosen by the caller.
    if (options.some((option) => option.includes("\0"))) throw new KernelError("INVALID_INPUT", "leave out the NUL");
    const inside = gatedCommand(DESCRIPTORS.gate, limitedCommand(plan.limits, command));
    const child = spawn(machine.bubblewrap, ["--args", "3", "--", ...inside], {
      cwd: "/",
      env: {},
      // Starts a process group, which can be killed as a whole.
      detached: true,
      stdio: withoutInherited(
        [
          ...(["pipe", outputs.stdout.file.fd, outputs.stderr.file.fd, "pipe", "pipe", "pipe", "pipe"] as const),
          ...opened.slice(1).map((file) => file.fd),
          ...contents.map(() => "pipe" as const),
          ...(hasChannel ? ["pipe" as const] : []),
        ],
        machine.inherited,
        opened[0]?.fd ?? 0,
      ),
      ...(process.getuid?.() === 0 && { uid: plan.identity.uid, gid: plan.identity.gid }),
    });
    isStarted = true;
    sendContents(child, contents);
    const channel = hasChannel ? channelOf(child) : undefined;
    return { ...superviseChild(child, outputs, options, beforeRelease, { marker, guards }), channel };
  } finally {
    if (!isStarted) discard(outputs);
    await Promise.all([...opened, outputs.stdout.file, outputs.stderr.file].map((file) => file.close()));
  }
}

interface Outputs {
  readonly stdout: OutputPipe;
  readonly stderr: OutputPipe;
}

/** Opens all files and pipes, or none. */
async function openAll(files: SandboxFiles, plan: SandboxPlan): Promise<[FileHandle[], Outputs]> {
  const [opening, stdout, stderr] = await Promise.allSettled([
    openFiles(files, plan),
    files.pipes.take(),
    files.pipes.take(),
  ]);
  if (opening.status === "fulfilled" && stdout.status === "fulfilled" && stderr.status === "fulfilled") {
    return [opening.value, { stdout: stdout.value, stderr: stderr.value }];
  }
  if (opening.status === "fulfilled") await Promise.all(opening.value.map((file) => file.close()));
  for (const taken of [stdout, stderr]) {
    if (taken.status !== "fulfilled") continue;
    taken.value.output.destroy();
    taken.value.release();
    await taken.value.file.close();
  }
  throw new KernelError("SANDBOX_ERROR", "what a sandbox is made with cannot be opened");
}

function discard({ stdout, stderr }: Outputs): void {
  for (const { output, release } of [stdout, stderr]) {
    output.destroy();
    release();
  }
}

/** 3 to 6 are pipes: options, status, block, gate. Then come the opened files, in order, without the first. */
const DESCRIPTORS = {
  status: 4,
  block: 5,
  /** Must be one digit: a shell parses it. */
  gate: 6,
  seccomp: 7,
  etc: { passwd: 8, group: 9, hosts: 10, "nsswitch.conf": 11 },
  contents: 12,
};

/**
 * SECURITY: the programs that wait at the gate and set the limits inside have the same environment. With one of these
 * variables they would load the caller's code before any limit applies; the last ones are instructions for bash, where
 * that is `sh`.
 */
const LOADER_VARIABLE =
  /^(?:LD_.*|GLIBC_TUNABLES|MALLOC_.*|GCONV_PATH|LOCPATH|NLSPATH|GETCONF_DIR|OPENSSL_.*|SHELLOPTS|BASHOPTS|BASH_FUNC_.*)$/;

function refuseLoaderVariables(environment: SandboxPlan["environment"]): void {
  const found = Object.keys(environment).find((name) => LOADER_VARIABLE.test(name));
  if (found === undefined) return;
  throw new KernelError(
    "INVALID_INPUT",
    `the variable \`${found}\` cannot be given from outside; set it in the command`,
  );
}

type Stdio = Array<"pipe" | "ignore" | number>;

/** Replaces inherited descriptors with /dev/null, so that the child does not get them. */
function withoutInherited(listed: Stdio, inherited: readonly number[], nothing: number): Stdio {
  const stdio = [...listed];
  for (const fd of inherited) {
    if (fd < listed.length) continue;
    // "ignore" leaves descriptors from 3 on as they are, so an inherited one must be replaced explicitly.
    while (stdio.length < fd) stdio.push("ignore");
    stdio[fd] = nothing;
  }
  return stdio;
}

async function openFiles(files: SandboxFiles, plan: SandboxPlan): Promise<FileHandle[]> {
  const [filter, system] = await Promise.all([files.filter(plan), files.system(plan.identity)]);
  const paths = ["/dev/null", filter, system.passwd, system.group, system.hosts, system["nsswitch.conf"]];
  const openings = await Promise.allSettled(paths.map((path) => open(path, "r")));
  const opened = openings.flatMap((opening) => (opening.status === "fulfilled" ? [opening.value] : []));
  if (opened.length === paths.length) return opened;
  await Promise.all(opened.map((file) => file.close()));
  throw new KernelError("SANDBOX_ERROR", "what a sandbox is made with cannot be opened");
}

/**
 * SECURITY: bubblewrap copies these bytes, so the file inside has exactly the verified content, whatever is on disk
 * now.
 */
function sendContents(child: ChildProcess, contents: NonNullable<SandboxPlan["contents"]>): void {
  for (const [index, { bytes }] of contents.entries()) {
    const pipe = child.stdio[DESCRIPTORS.contents + index];
    if (!(pipe instanceof Writable)) throw new KernelError("SANDBOX_ERROR", "bubblewrap was started without its pipes");
    // If bubblewrap fails before it has read everything, its status gives the reason.
    pipe.on("error", () => undefined);
    pipe.end(bytes);
  }
}

function channelOf(child: ChildProcess): Duplex {
  const pipe = child.stdio.at(CHANNEL_DESCRIPTOR);
  if (!(pipe instanceof Duplex)) throw new KernelError("SANDBOX_ERROR", "bubblewrap was started without its pipes");
  pipe.on("error", () => undefined);
  return pipe;
}

function superviseChild(
  child: ChildProcess,
  outputs: Outputs,
  options: readonly string[],
  beforeRelease: BeforeRelease | undefined,
  { marker, guards }: { readonly marker: string; readonly guards: readonly PinnedGuard[] },
): Omit<SandboxedProcess, "channel"> {
  const { stdin } = child;
  const [stdout, stderr] = [outputs.stdout.output, outputs.stderr.output];
  const [optionsPipe, statusPipe, blockPipe, gatePipe] = child.stdio.slice(3);
  if (!stdin || !optionsPipe || !statusPipe || !blockPipe || !gatePipe) {
    throw new KernelError("SANDBOX_ERROR", "bubblewrap was started without its pipes");
  }
  const errors = stderr.pipe(new PassThrough());
  const status = followStatus(child, statusPipe as Readable, stderr);
  const kill = (): void => killTree(child, status);
  const release = (): void => {
    outputs.stdout.release();
    outputs.stderr.release();
  };
  status.ended.then(release, release);
  // Writing to a program that has ended fails; only its exit status matters.
  const writable = [stdin, optionsPipe as Writable, blockPipe as Writable, gatePipe as Writable];
  for (const pipe of writable) pipe.on("error", () => undefined);
  (optionsPipe as Writable).end(`${options.join("\0")}\0`);
  const letGo = (): void => {
    (gatePipe as Writable).end("\n");
    (blockPipe as Writable).write("x");
  };
  if (guards.length === 0 && beforeRelease === undefined) letGo();
  else {
    status.pid
      .then(async (pid) => {
        await Promise.all([
          beforeRelease?.(pid),
          guards.length > 0 ? verifyGuards(pid, marker, guards, status) : undefined,
        ]);
      })
      .then(letGo, (fault: unknown) => {
        status.fail(fault);
        kill();
      });
  }
  return { stdin, stdout, stderr: errors, pid: status.pid, ended: status.ended, kill };
}

/**
 * Kills the first process inside first: its end kills everything in its namespace. In the other order, a child that is
 * still held back would outlive its bubblewrap. Until bubblewrap has reported the child's pid, the child is in
 * bubblewrap's process group; a pid reported late is still read after bubblewrap's death.
 */
function killTree(child: ChildProcess, status: SandboxStatus): void {
  if (status.hasEnded) return;
  if (status.knownPid !== undefined) killNow(status.knownPid);
  else killUnknown(child, status);
  child.kill("SIGKILL");
}

function killUnknown(child: ChildProcess, status: SandboxStatus): void {
  status.pid.then(
    (pid) => status.hasEnded || killNow(pid),
    () => undefined,
  );
  const isRunning = child.exitCode === null && child.signalCode === null;
  if (child.pid !== undefined && isRunning) killNow(-child.pid);
}

function killNow(pid: number): void {
  try {
    process.kill(pid, "SIGKILL");
  } catch {
    // It has ended already.
  }
}
