import assert from "node:assert/strict";
import { type ChildProcess, type ChildProcessByStdio, spawn } from "node:child_process";
import { chmod, chown, mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import type { Readable, Writable } from "node:stream";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";
import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import { endKernels, kernelsOf } from "../../scripts/build/on-demand-kernels.ts";
import { RUNS_ALL } from "../sampled.ts";
import { runHosted } from "./hosted-commands.ts";

/** The command as it runs from a checkout. */
export const SOURCES = fileURLToPath(new URL("../../packages/narthex/bin/narthex.js", import.meta.url));
/** As `npm test` built it, which starts in half the time; a test file that is run by itself takes the sources. */
export const COMMAND = process.env["NARTHEX_TEST_COMMAND"] ?? SOURCES;

const WORKSPACE_USER = 1000;

export type Running = ChildProcessByStdio<Writable, Readable, Readable>;

export interface Finished {
  readonly code: number | null;
  readonly stdout: string;
  readonly stderr: string;
}

export interface RunOptions {
  readonly stdin?: string | Uint8Array;
  readonly env?: NodeJS.ProcessEnv;
  /** Where one process runs all commands, this one has its own nevertheless. */
  readonly ownProcess?: boolean;
  /** It leads a process group, so that a signal can reach it and all it started. */
  readonly ownGroup?: boolean;
}

export interface Serving {
  /** What `serve --json` printed when its doors were open. */
  readonly ready: JsonObject;
  readonly child: Running;
  /** Sends SIGTERM and gives the exit code. */
  stop(): Promise<number | null>;
}

/** A kernel's home, a workspace and a user's home of their own, and the command run against them. */
export interface TestHome {
  /** The command, as a file to run. */
  readonly program: string;
  readonly home: string;
  readonly workspace: string;
  readonly root: string;
  start(args: readonly string[], options?: RunOptions): Running;
  run(args: readonly string[], options?: RunOptions): Promise<Finished>;
  /** Runs with --json, expects the exit code, and gives the one object printed. */
  ask(args: readonly string[], code?: number, options?: RunOptions): Promise<JsonObject>;
  openSession(...options: readonly string[]): Promise<{ readonly id: string; readonly token: string }>;
  serve(...options: readonly string[]): Promise<Serving>;
  remove(): Promise<void>;
}

/**
 * The same, where `run` and `ask` have one process run all of their commands: for tests of what commands say and do, at a
 * fraction of the processor time. Each kind of command is tested as a process of its own too.
 */
export function createHostedHome(): Promise<TestHome> {
  return openTestHome(COMMAND, true);
}

export function createTestHome(program = COMMAND): Promise<TestHome> {
  return openTestHome(program, false);
}

async function openTestHome(program: string, isHosted: boolean): Promise<TestHome> {
  const root = await mkdtemp(join(tmpdir(), "narthex-cli-"));
  // Programs that a kernel of root's runs are somebody else, who must be able to get there.
  await chmod(root, 0o711);
  const home = join(root, "home");
  const workspace = join(root, "workspace");
  await mkdir(workspace);
  // Tools of a kernel of root's never run as root: a workspace of root's is one that they can only read.
  if (process.getuid?.() === 0) await chown(workspace, WORKSPACE_USER, WORKSPACE_USER);
  const children = new Set<Running>();

  const environmentWith = (env: NodeJS.ProcessEnv = {}): NodeJS.ProcessEnv => ({
    ...inheritedEnvironment(),
    HOME: root,
    NARTHEX_DATA: home,
    ...env,
  });

  function start(args: readonly string[], { stdin, env, ownGroup = false }: RunOptions = {}): Running {
    const child = spawn(process.execPath, [program, ...args], {
      cwd: root,
      env: environmentWith(env),
      stdio: ["pipe", "pipe", "pipe"],
      detached: ownGroup,
    });
    children.add(child);
    child.on("exit", () => children.delete(child));
    // A command that ends without reading its input closes the pipe.
    child.stdin.on("error", () => undefined);
    if (stdin !== undefined) child.stdin.end(stdin);
    return child;
  }

  async function run(args: readonly string[], options: RunOptions = {}): Promise<Finished> {
    if (isHosted && options.ownProcess !== true && !RUNS_ALL) {
      const stdin = Buffer.from(options.stdin ?? "");
      return runHosted(program, { args, stdin, directory: root, environment: environmentWith(options.env) });
    }
    const child = start(args, { stdin: "", ...options });
    const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended(child)]);
    return { code, stdout, stderr };
  }

  async function ask(args: readonly string[], code = 0, options: RunOptions = {}): Promise<JsonObject> {
    const finished = await run([...args, "--json"], options);
    assert.equal(finished.code, code, `${args.join(" ")}: ${finished.stdout}${finished.stderr}`);
    return parseObject(finished.stdout);
  }

  return {
    program,
    home,
    workspace,
    root,
    start,
    run,
    ask,
    async openSession(...options) {
      const opened = await ask(["session", "open", "--workspace", workspace, ...options]);
      return { id: textOf(opened["session_id"]), token: textOf(opened["token"]) };
    },
    async serve(...options) {
      const child = start(["serve", "--listen", "127.0.0.1:0", "--json", ...options]);
      return {
        ready: parseObject(await readLines(child)()),
        child,
        stop() {
          child.kill("SIGTERM");
          return ended(child);
        },
      };
    },
    async remove() {
      for (const child of children) child.kill("SIGKILL");
      await endKernels(() => kernelsOf(root));
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** Without what would change how the command behaves; and it has a place of its own for compiled code. */
export function inheritedEnvironment(): NodeJS.ProcessEnv {
  const environment = { ...process.env };
  for (const name of ["NARTHEX_TOKEN", "XDG_STATE_HOME", "NARTHEX_DEBUG", "NODE_COMPILE_CACHE"])
    delete environment[name];
  return environment;
}

/** The next line of a command's output, each time it is asked. */
export function readLines({ stdout, stderr }: Running): () => Promise<string> {
  const lines = createInterface({ input: stdout })[Symbol.asyncIterator]();
  const problems = text(stderr);
  return async () => {
    const line = await lines.next();
    if (line.done === true) assert.fail(`it ended without another line: ${await problems}`);
    return line.value;
  };
}

/** The exit code, once there is one; null for a process ended by a signal. */
export function ended(child: ChildProcess): Promise<number | null> {
  if (child.exitCode !== null || child.signalCode !== null) return Promise.resolve(child.exitCode);
  return new Promise((resolve) => child.once("exit", resolve));
}

export function parseObject(json: string): JsonObject {
  return objectOf(JSON.parse(json) as JsonValue);
}

export function textOf(value: JsonValue | undefined): string {
  assert.ok(typeof value === "string", `no text: ${JSON.stringify(value)}`);
  return value;
}

export function objectOf(value: JsonValue | undefined): JsonObject {
  assert.ok(isJsonObject(value), `no object: ${JSON.stringify(value)}`);
  return value;
}

export function objectsOf(value: JsonValue | undefined): JsonObject[] {
  assert.ok(Array.isArray(value), `no list: ${JSON.stringify(value)}`);
  return value.map(objectOf);
}
