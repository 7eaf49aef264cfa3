import assert from "node:assert/strict";
import { chmod, chown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Transport } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import type { OpenSessionOptions, ShellBackend } from "@narthex/kernel";
import type { OpenKernelOptions } from "narthex";
import { createKernel, type SocketKernel, type SocketSession } from "../doors/socket-kernel.ts";

/** Nobody is asked: what a person would say is not what is tested here. */
const UNASKED = ["shell_exec", "shell_spawn", "shell_input"]
  .map((tool) => `@id("test-${tool}") @approve("none") permit(principal, action == Action::"${tool}", resource);`)
  .join("\n");

/** SECURITY: sandboxes never run as root, so a test that does gives its workspace to somebody. */
const OWNER = process.getuid?.() === 0 ? 1000 : undefined;

/** A kernel with one way to run shell commands, on a home of its own. */
export interface ShellKernel {
  readonly kernel: SocketKernel;
  readonly root: string;
  readonly workspace: string;
  open(workspace?: string, lease?: OpenSessionOptions["lease"]): Promise<ShellSession>;
  makeWorkspace(): Promise<string>;
  close(): Promise<void>;
  remove(): Promise<void>;
}

export interface ShellSession {
  readonly session: SocketSession;
  /** What the tool answered, if it did. */
  ask(tool: string, input: JsonValue): Promise<JsonObject>;
  /** Runs a command and gives what it printed and how it ended. */
  run(command: string, options?: JsonObject): Promise<Ran>;
  /** The code and message of the error or refusal. */
  refused(tool: string, input: JsonValue): Promise<Refused>;
  spawn(command: string, options?: JsonObject): Promise<string>;
  /** All that a job printed, once it has ended. */
  finish(jobId: string): Promise<JsonObject>;
  /** What a job printed, once that has some text in it. */
  until(jobId: string, text: string): Promise<string>;
}

export interface Ran {
  readonly code: JsonValue | undefined;
  readonly out: string;
  readonly err: string;
  readonly notes: readonly string[];
}

export interface Refused {
  readonly code: string;
  readonly message: string;
  /** What was printed until then. */
  readonly printed?: string;
}

export async function createShellKernel(
  backend: ShellBackend | undefined,
  options: OpenKernelOptions = {},
  settings = "",
): Promise<ShellKernel> {
  const root = await mkdtemp(join(tmpdir(), "narthex-shell-"));
  // Others than its owner can go through it.
  await chmod(root, 0o711);
  const data = join(root, "home");
  await mkdir(data, { mode: 0o700 });
  const shell = backend === undefined ? "" : `shell: { backend: ${backend} }\n`;
  if (shell + settings !== "") await writeFile(join(data, "narthex.yaml"), shell + settings);
  const makeWorkspace = async (): Promise<string> => {
    const made = await mkdtemp(join(root, "workspace-"));
    if (OWNER !== undefined) await chown(made, OWNER, OWNER);
    return made;
  };
  const workspace = await makeWorkspace();
  const policies = [{ name: "unasked.cedar", text: UNASKED }];
  const kernel = await createKernel({ data, policies, ...options });
  let isClosed = false;
  const close = async (): Promise<void> => {
    if (!isClosed) await kernel.close({ graceMs: 0 });
    isClosed = true;
  };
  return {
    kernel,
    root,
    workspace,
    makeWorkspace,
    open: async (where = workspace, lease = {}) => shellSession(await kernel.session({ workspace: where, lease })),
    close,
    async remove() {
      await close();
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function shellSession(session: SocketSession): ShellSession {
  async function ask(tool: string, input: JsonValue): Promise<JsonObject> {
    const { response, raw } = await session.call(tool, input);
    const { result } = response;
    if (result.case !== "success") assert.fail(`${tool}: ${result.case} ${result.value?.message}`);
    assert.ok(isJsonObject(raw as JsonValue), JSON.stringify(raw));
    return raw as JsonObject;
  }
  async function read(jobId: string, offset: number): Promise<JsonObject> {
    return await ask("shell_output", { job_id: jobId, offset, wait_ms: 20_000 });
  }
  return {
    session,
    ask,
    async run(command, options = {}) {
      const answer = await ask("shell_exec", { command, ...options });
      const { exit_code: code, stdout, stderr, notes } = answer;
      const textOf = (printed: JsonValue | undefined): string => String((printed as JsonObject)["text"]);
      return { code, out: textOf(stdout), err: textOf(stderr), notes: (notes ?? []) as string[] };
    },
    async refused(tool, input) {
      const { result } = (await session.call(tool, input)).response;
      if (result.case === "denied") return { code: result.value.rationaleCode, message: result.value.message };
      if (result.case === "error") {
        return { code: result.value.errorCode, message: result.value.message, printed: result.value.view };
      }
      return assert.fail(`it was done: ${tool} ${JSON.stringify(input)}`);
    },
    spawn: async (command, options = {}) => String((await ask("shell_spawn", { command, ...options }))["job_id"]),
    async finish(jobId) {
      let text = "";
      for (let offset = 0; ; ) {
        const reading = await read(jobId, offset);
        text += String(reading["text"]);
        offset = Number(reading["next_offset"]);
        if (reading["state"] !== "running" && offset === reading["size"]) return { ...reading, text };
      }
    },
    async until(jobId, wanted) {
      let text = "";
      for (let offset = 0; !text.includes(wanted); ) {
        const reading = await read(jobId, offset);
        text += String(reading["text"]);
        offset = Number(reading["next_offset"]);
        assert.ok(reading["state"] === "running" || text.includes(wanted), `it ended: ${JSON.stringify(reading)}`);
      }
      return text;
    },
  };
}

/** The services' socket, as any client reaches it. */
export function connectTo(kernel: SocketKernel): Transport {
  return createConnectTransport({
    baseUrl: "http://localhost",
    httpVersion: "1.1",
    nodeOptions: { socketPath: kernel.sockets.services },
  });
}

/** Processes of this machine whose command line holds a text. */
export async function processesWith(text: string): Promise<number[]> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const lines = await Promise.all(pids.map((pid) => readFile(`/proc/${pid}/cmdline`, "latin1").catch(() => "")));
  return pids.filter((_, index) => lines[index]?.includes(text) === true).map(Number);
}
