import assert from "node:assert/strict";
import { chmod, chown, lchown, mkdir, mkdtemp, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { createClient } from "@connectrpc/connect";
import { createConnectTransport } from "@connectrpc/connect-node";
import {
  create,
  isJsonObject,
  type JsonObject,
  type JsonValue,
  KernelService,
  ToolRequestSchema,
  type ToolResponse,
} from "@narthex/contracts";
import type { OpenKernelOptions } from "narthex";
import { createKernel, type SocketKernel, type SocketSession } from "../doors/socket-kernel.ts";

type Variant = NonNullable<NonNullable<Parameters<typeof create<typeof ToolRequestSchema>>[1]>["tool"]>;

/** A kernel on a home of its own, and a session on a workspace of its own. */
export interface FileKernel extends AsyncDisposable {
  readonly kernel: SocketKernel;
  readonly session: SocketSession;
  readonly root: string;
  readonly workspace: string;
  /** A path of the workspace on the host. */
  at(path: string): string;
  put(path: string, content: string | Uint8Array): Promise<void>;
  text(path: string): Promise<string>;
  /** Gives everything in the workspace to whom it belongs. After every change that a test makes by itself. */
  own(): Promise<void>;
  /** What a tool answered, if it did. */
  ask(tool: string, input: JsonValue): Promise<JsonValue>;
  askObject(tool: string, input: JsonValue): Promise<JsonObject>;
  /** The code of the error or refusal. */
  refused(tool: string, input: JsonValue): Promise<string>;
  /** A typed message through the services' socket. */
  send(variant: Variant): Promise<ToolResponse["result"]>;
}

/** SECURITY: sandboxes never run as root, so a test that does gives its workspace to somebody. */
const OWNER = process.getuid?.() === 0 ? 1000 : undefined;

export interface FileKernelOptions extends OpenKernelOptions {
  /** What `narthex.yaml` says. */
  readonly configuration?: string;
}

export async function createFileKernel({ configuration, ...options }: FileKernelOptions = {}): Promise<FileKernel> {
  const root = await mkdtemp(join(tmpdir(), "narthex-files-"));
  const workspace = join(root, "workspace");
  await mkdir(workspace);
  // Whoever owns the workspace has to get there; the home in it is closed to others by itself.
  await chmod(root, 0o755);
  if (OWNER !== undefined) await chown(workspace, OWNER, OWNER);
  if (configuration !== undefined) {
    await mkdir(join(root, "home"), { mode: 0o700 });
    await writeFile(join(root, "home/narthex.yaml"), configuration, { mode: 0o600 });
  }
  const kernel = await createKernel({ data: join(root, "home"), ...options });
  const session = await kernel.session({ workspace });
  const transport = createConnectTransport({
    baseUrl: "http://localhost",
    httpVersion: "1.1",
    nodeOptions: { socketPath: kernel.sockets.services },
  });
  const client = createClient(KernelService, transport);
  const at = (path: string): string => join(workspace, path);
  let number = 0;

  async function ask(tool: string, input: JsonValue): Promise<JsonValue> {
    const { response, raw } = await session.call(tool, input);
    assert.equal(response.result.case, "success", JSON.stringify(response.result.value, plain));
    assert.ok(!(raw instanceof Uint8Array) && raw !== undefined);
    return raw;
  }

  return {
    kernel,
    session,
    root,
    workspace,
    at,
    ask,
    async put(path, content) {
      await mkdir(dirname(at(path)), { recursive: true });
      await writeFile(at(path), content);
      await ownAll(workspace);
    },
    text: (path) => readFile(at(path), "utf8"),
    own: () => ownAll(workspace),
    async askObject(tool, input) {
      const answer = await ask(tool, input);
      assert.ok(isJsonObject(answer), JSON.stringify(answer));
      return answer;
    },
    async refused(tool, input) {
      const { response } = await session.call(tool, input);
      return codeOf(response.result);
    },
    async send(tool) {
      const request = create(ToolRequestSchema, { requestId: `wire-${++number}`, sessionToken: session.token, tool });
      return (await client.call(request)).result;
    },
    async [Symbol.asyncDispose]() {
      await kernel.close({ graceMs: 0 });
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

/** The code of an error or a refusal. */
export function codeOf(result: ToolResponse["result"]): string {
  if (result.case === "denied") return result.value.rationaleCode;
  if (result.case === "error") return result.value.errorCode;
  return assert.fail(`it was done: ${JSON.stringify(result.value, plain)}`);
}

async function ownAll(directory: string): Promise<void> {
  if (OWNER === undefined) return;
  for (const entry of await readdir(directory, { recursive: true, withFileTypes: true })) {
    await lchown(join(entry.parentPath, entry.name), OWNER, OWNER);
  }
}

function plain(_: string, value: unknown): unknown {
  if (typeof value === "bigint") return Number(value);
  return value instanceof Uint8Array ? Buffer.from(value).toString() : value;
}
