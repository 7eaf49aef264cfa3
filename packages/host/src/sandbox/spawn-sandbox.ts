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

/** A program on its way through its sandbox. */
export interface SandboxedProcess {
  readonly stdin: Writable;
  readonly stdout: Readable;
  readonly stderr: Readable;
  /** The supervisor's end of the channel, if the plan has one. */
  readonly channel?: Duplex | undefined;
  /** The first process inside, by its number outside. */
  readonly pid: Promise<number>;
  /** Resolves when the program has ended; processes that it left behind are being killed. Rejects with SANDBOX_ERROR if the sandbox itself failed. */
  readonly ended: Promise<{ readonly exitCode: number }>;
  /** Ends every process inside, at once. */
  kill(): void;
}

/** Done with the first process inside while it is held back, before the program has begun: to put it in a group, say. */
export type BeforeRelease = (pid: number) => Promise<void>;

/**
 * Starts a program in a sandbox of its own.
 *
 * SECURITY: bubblewrap never runs as root: even with every namespace and no capability, a process that is root outside
 * can write `/proc/sys`. Nothing is inherited but what is listed here.
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
    // SECURITY: options are parted by NULs. In a variable's value one would begin an option of the caller's own.
    if (options.some((option) => option.includes("\0"))) throw new KernelError("INVALID_INPUT", "leave out the NUL");
    const inside = gatedCommand(DESCRIPTORS.gate, limitedCommand(plan.limits, command));
    const child = spawn(machine.bubblewrap, ["--args", "3", "--", ...inside], {
      cwd: "/",
      env: {},
      // In a group of its own, which is killed as one.
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

/** All or none. */
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

/** 3 to 6 are pipes: options, status, block, gate. The files follow in the order in which they are opened, after the first. */
const DESCRIPTORS = {
  status: 4,
  block: 5,
  /** One digit: a shell reads it. */
  gate: 6,
  seccomp: 7,
  etc: { passwd: 8, group: 9, hosts: 10, "nsswitch.conf": 11 },
  contents: 12,
};

/**
 * SECURITY: the programs that wait for the gate and set the limits inside have the same variables. With one of these they would
 * load code of the caller's own, before there is any limit; the last ones are instructions for bash, where that is `sh`.
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

/** Where a child would inherit a file that is none of its business, it finds /dev/null. */
function withoutInherited(listed: Stdio, inherited: readonly number[], nothing: number): Stdio {
  const stdio = [...listed];
  for (const fd of inherited) {
    if (fd < listed.length) continue;
    // What is ignored from 3 on is left as it is: only another file takes its place.
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

/** SECURITY: bubblewrap copies what it is sent here. What was checked before is what is there, whatever a disk says now. */
function sendContents(child: ChildProcess, contents: NonNullable<SandboxPlan["contents"]>): void {
  for (const [index, { bytes }] of contents.entries()) {
    const pipe = child.stdio[DESCRIPTORS.contents + index];
    if (!(pipe instanceof Writable)) throw new KernelError("SANDBOX_ERROR", "bubblewrap was started without its pipes");
    // Where bubblewrap gives up before it has read it all, its status says why.
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
  // A program that ended early leaves pipes that nobody reads; what counts is how it ended.
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
 * The first process inside goes first: once it is gone, so is everything in its namespace. Killed the other way round,
 * a child that is still held back would outlive its bubblewrap. Until bubblewrap has told of it, it is in its group; what
 * it tells last is read after its death.
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
    // It ended by itself.
  }
}
