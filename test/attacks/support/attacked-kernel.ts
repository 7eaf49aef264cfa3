import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { chmod, chown, lchown, mkdir, mkdtemp, readdir, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import {
  AdminService,
  CloseSessionRequestSchema,
  create,
  type JsonValue,
  OpenSessionRequestSchema,
} from "@narthex/contracts";
import { kernelProgram } from "../../built/kernel-program.ts";
import { ended } from "../../cli/home.ts";
import { connectServices, createSocketCaller, type SocketAnswer } from "../../doors/socket-session.ts";
import { removeCaches } from "./program-caches.ts";

const KERNEL = new URL("./kernel-process.ts", import.meta.url);
/** Whoever programs run as when the tests run as root. */
const TEST_USER = 1000;
/** Attacks are violations, and many of them would otherwise end the session before the last. */
const CONFIGURATION = "session: {quarantine: {violations: 1000, window_ms: 1000}}\n";

/** A session whose calls come through the socket of the kernel's process. */
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

export interface CallAnswer {
  readonly status: "success" | "denied" | "error";
  /** Empty of a success. */
  readonly code: string;
  readonly message: string;
  /** Bytes as text. */
  readonly result: JsonValue;
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
  const client = connectServices(await readSocketPath(child));
  const adminToken = (await readFile(join(home, "run/admin.token"), "utf8")).trim();
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
    open: (path = workspace) => openSession(client, adminToken, path),
    makeWorkspace,
    own: (path = workspace) => own(path),
    async remove() {
      child.stdin?.end();
      await ended(child);
      client.close();
      await removeCaches(home);
      await rm(root, { recursive: true, force: true, maxRetries: 3 });
    },
  };
}

type Client = ReturnType<typeof connectServices>;

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

/** The line that the kernel's process prints when its sockets are open. */
async function readSocketPath({ stdout }: ChildProcess): Promise<string> {
  if (stdout === null) return assert.fail("the kernel has no pipe");
  for await (const line of createInterface({ input: stdout })) return line;
  return assert.fail("the kernel did not start");
}

async function openSession(client: Client, token: string, workspace: string): Promise<AttackSession> {
  const { openSession: opening, closeSession } = AdminService.method;
  const opened = await client.unary(opening, create(OpenSessionRequestSchema, { workspace }), { token });
  const sessionId = opened.session?.sessionId ?? assert.fail("it has no session");
  const caller = createSocketCaller(client, opened.token);
  const call: AttackSession["call"] = async (tool, input, { onOutput, ...options } = {}) => {
    const onChunk = (chunk: Uint8Array): void => onOutput?.(Buffer.from(chunk).toString());
    try {
      return answered(await caller.call(tool, input, { ...options, ...(onOutput !== undefined && { onChunk }) }));
    } catch (fault) {
      if (!(fault instanceof Error) || !("code" in fault)) throw fault;
      return { status: "error", code: String(fault.code), message: fault.message, result: null };
    }
  };
  return {
    id: sessionId,
    call,
    shell: async (command, more = {}) => shellEnd(await call("shell_exec", { ...more, command })),
    async end() {
      await client.unary(closeSession, create(CloseSessionRequestSchema, { sessionId }), { token });
    },
  };
}

function answered({ status, response, raw }: SocketAnswer): CallAnswer {
  const { result } = response;
  if (result.case === "error")
    return { status, code: result.value.errorCode, message: result.value.message, result: null };
  if (result.case === "denied")
    return { status, code: result.value.rationaleCode, message: result.value.message, result: null };
  const value = raw instanceof Uint8Array ? Buffer.from(raw).toString() : (raw ?? null);
  return { status, code: "", message: "", result: value };
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
