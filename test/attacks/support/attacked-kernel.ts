import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, chown, lchown, mkdir, mkdtemp, readdir, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { JsonValue } from "@narthex/contracts";
import { kernelProgram } from "../../built/kernel-program.ts";
import { ended } from "../../cli/home.ts";
import { removeCaches } from "./cache-places.ts";
import type { CallAnswer, KernelAnswer, KernelCommand } from "./kernel-messages.ts";

const KERNEL = new URL("./kernel-process.ts", import.meta.url);
/** Whoever programs run as when the tests run as root. */
const TEST_USER = 1000;
/** Attacks are violations, and many of them would otherwise end the session before the last. */
const CONFIGURATION = "session: {quarantine: {violations: 1000, window_ms: 1000}}\n";

export interface AttackSession {
  readonly id: string;
  call(tool: string, input: JsonValue, options?: CallOptions): Promise<CallAnswer>;
  /** Runs a command with `shell_exec`, which must succeed as a call whatever the command's own end. */
  shell(command: string, more?: Readonly<Record<string, JsonValue>>): Promise<ShellEnd>;
  end(): Promise<void>;
}

export interface CallOptions {
  readonly requestId?: string;
  /** The caller gives up after this. */
  readonly timeoutMs?: number;
  onOutput?(text: string): void;
}

export interface ShellEnd {
  readonly exitCode: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

/** A kernel in a process of its own, and around it what no attacker may reach. */
export interface AttackedKernel {
  readonly root: string;
  readonly home: string;
  readonly workspace: string;
  /** Beside the workspace, readable and writable for everyone: only the sandbox keeps programs from it. */
  readonly outside: string;
  /** In a file outside, in the kernel's environment, and nowhere inside. */
  readonly secret: string;
  /** Where the kernel makes its temporary files. */
  readonly temporary: string;
  readonly child: ChildProcess;
  readonly pid: number;
  at(path: string): string;
  open(workspace?: string): Promise<AttackSession>;
  makeWorkspace(name: string): Promise<string>;
  /** Gives everything in a directory to the user that programs run as. */
  own(path?: string): Promise<void>;
  /** Stops the kernel and takes everything away. */
  remove(): Promise<void>;
}

export interface AttackedKernelOptions {
  /** Files that the kernel's process is given open from number 3 on. */
  readonly inherited?: readonly number[];
  /** A root that an earlier kernel was killed on. */
  readonly root?: string;
}

export async function startAttackedKernel({
  inherited = [],
  root: earlier,
}: AttackedKernelOptions = {}): Promise<AttackedKernel> {
  const root = earlier ?? (await realpath(await mkdtemp(join(tmpdir(), "narthex-attack-"))));
  const [home, outside, temporary] = [join(root, "home"), join(root, "outside"), join(root, "tmp")];
  const secret = `secret-${randomBytes(16).toString("hex")}`;
  if (earlier === undefined) await furnish(root, { home, outside, temporary }, secret);
  const makeWorkspace = async (name: string): Promise<string> => {
    const path = join(root, name);
    await mkdir(path, { recursive: true });
    await own(path);
    return path;
  };
  const workspace = await makeWorkspace("workspace");
  const child = spawn(process.execPath, kernelProgram(KERNEL, home), {
    env: { ...process.env, HOME: root, TMPDIR: temporary, ATTACK_SECRET: secret },
    stdio: ["pipe", "pipe", "inherit", ...inherited],
  });
  const talk = await startTalk(child);
  return {
    root,
    home,
    workspace,
    outside,
    secret,
    temporary,
    child,
    pid: child.pid ?? assert.fail("the kernel did not start"),
    at: (path) => join(workspace, path),
    open: (path = workspace) => openSession(talk, path),
    makeWorkspace,
    own: (path = workspace) => own(path),
    async remove() {
      child.stdin?.end();
      await ended(child);
      await removeCaches(home);
      await rm(root, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

interface Places {
  readonly home: string;
  readonly outside: string;
  readonly temporary: string;
}

async function furnish(root: string, { home, outside, temporary }: Places, secret: string): Promise<void> {
  await chmod(root, 0o755);
  await mkdir(home, { mode: 0o700 });
  await writeFile(join(home, "narthex.yaml"), CONFIGURATION);
  await mkdir(temporary, { mode: 0o777 });
  await mkdir(join(outside, "directory"), { recursive: true });
  await writeFile(join(outside, "file"), secret);
  for (const path of [outside, join(outside, "directory"), join(outside, "file"), temporary]) await chmod(path, 0o777);
  // Whoever got there would be its owner.
  await own(outside);
}

type Talk = (command: Unnumbered<KernelCommand>, onOutput?: (text: string) => void) => Promise<KernelAnswer>;
type Unnumbered<T> = T extends unknown ? Omit<T, "id"> : never;

async function startTalk(child: ChildProcess): Promise<Talk> {
  const { stdin, stdout } = child;
  if (stdin === null || stdout === null) return assert.fail("the kernel has no pipes");
  const waiting = new Map<
    number,
    { resolve: (answer: KernelAnswer) => void; onOutput?: ((text: string) => void) | undefined }
  >();
  const ready = Promise.withResolvers<KernelAnswer>();
  waiting.set(0, ready);
  createInterface({ input: stdout }).on("line", (line) => {
    const answer = JSON.parse(line) as KernelAnswer;
    const asked = waiting.get(answer.id);
    if (answer.kind === "chunk") return asked?.onOutput?.(answer.text);
    waiting.delete(answer.id);
    asked?.resolve(answer);
  });
  child.on("exit", () => {
    for (const [id, { resolve }] of waiting)
      resolve({ id, kind: "failed", code: "GONE", message: "the kernel is gone" });
    waiting.clear();
  });
  stdin.on("error", () => undefined);
  assert.equal((await ready.promise).kind, "ready", "the kernel did not start");
  let last = 0;
  return (command, onOutput) => {
    const id = ++last;
    const { promise, resolve } = Promise.withResolvers<KernelAnswer>();
    waiting.set(id, { resolve, onOutput });
    stdin.write(`${JSON.stringify({ ...command, id })}\n`);
    return promise;
  };
}

async function openSession(talk: Talk, workspace: string): Promise<AttackSession> {
  const opened = await talk({ kind: "open", workspace });
  if (opened.kind === "failed") throw Object.assign(new Error(opened.message), { code: opened.code });
  const { session } = opened.kind === "opened" ? opened : assert.fail(opened.kind);
  const call: AttackSession["call"] = async (tool, input, { onOutput, ...options } = {}) => {
    const wantsOutput = onOutput !== undefined;
    const answer = await talk({ ...options, kind: "call", session, tool, input, wantsOutput }, onOutput);
    if (answer.kind === "failed") return { status: "error", code: answer.code, message: answer.message, result: null };
    return answer.kind === "answered" ? answer : assert.fail(answer.kind);
  };
  return {
    id: session,
    call,
    shell: async (command, more = {}) => shellEnd(await call("shell_exec", { ...more, command })),
    async end() {
      assert.equal((await talk({ kind: "end", session })).kind, "ended");
    },
  };
}

function shellEnd({ status, code, message, result }: CallAnswer): ShellEnd {
  assert.equal(status, "success", `${code}: ${message}`);
  const { exit_code: exitCode, stdout, stderr } = result as unknown as ProgramAnswer;
  return { exitCode, stdout: stdout.text, stderr: stderr.text };
}

interface ProgramAnswer {
  readonly exit_code: number | null;
  readonly stdout: { readonly text: string };
  readonly stderr: { readonly text: string };
}

async function own(path: string): Promise<void> {
  if (process.getuid?.() !== 0) return;
  await chown(path, TEST_USER, TEST_USER);
  for (const entry of await readdir(path, { withFileTypes: true })) {
    if (entry.isDirectory()) await own(join(path, entry.name));
    else await lchown(join(path, entry.name), TEST_USER, TEST_USER);
  }
}
