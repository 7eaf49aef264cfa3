import assert from "node:assert/strict";
import { chmod, chown, mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type IncomingMessage, type RequestListener, type Server } from "node:http";
import { createServer as createTlsServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fromBinary, isJsonObject, type JsonObject, type JsonValue, RecordSchema } from "@narthex/contracts";
import type { Capability, HostPattern, LeaseRequest } from "@narthex/kernel";
import type { OpenKernelOptions } from "narthex";
import { createKernel, type SocketKernel, type SocketSession } from "../doors/socket-kernel.ts";

const OWNER = process.getuid?.() === 0 ? 1000 : undefined;

/** Nobody is asked: what a person would say is tested elsewhere. */
const UNASKED = `@id("test-network") @approve("none") permit(principal, action, resource);`;

export interface NetworkKernel extends AsyncDisposable {
  readonly kernel: SocketKernel;
  readonly root: string;
  readonly workspace: string;
  /** With rights over these hosts, `host:port` each. */
  open(rights: NetworkRights): Promise<NetworkSession>;
}

export interface NetworkRights {
  readonly reads?: readonly string[];
  readonly sends?: readonly string[];
  readonly more?: Partial<LeaseRequest>;
}

export interface NetworkSession {
  readonly session: SocketSession;
  ask(tool: string, input: JsonValue): Promise<JsonObject>;
  refused(tool: string, input: JsonValue): Promise<{ readonly code: string; readonly message: string }>;
  /** Requests and refusals in the ledger, as short texts. */
  egress(): Promise<string[]>;
}

export interface NetworkKernelOptions extends OpenKernelOptions {
  /** Of narthex.yaml. */
  readonly configuration?: string;
  readonly rules?: string;
}

/** A kernel on a home of its own, whose sessions can be given hosts. */
export async function createNetworkKernel(options: NetworkKernelOptions = {}): Promise<NetworkKernel> {
  const { configuration = "", rules = UNASKED, ...rest } = options;
  const root = await mkdtemp(join(tmpdir(), "narthex-network-"));
  await chmod(root, 0o711);
  const data = join(root, "home");
  const workspace = join(root, "workspace");
  await mkdir(data, { mode: 0o700 });
  await mkdir(workspace);
  if (OWNER !== undefined) await chown(workspace, OWNER, OWNER);
  await writeFile(join(data, "narthex.yaml"), configuration);
  const kernel = await createKernel({ data, policies: [{ name: "test.cedar", text: rules }], ...rest });
  return {
    kernel,
    root,
    workspace,
    async open({ reads = [], sends = [], more = {} }) {
      const lease = { capabilities: capabilities(workspace, reads, sends), ...more };
      return networkSession(kernel, await kernel.session({ workspace, lease }));
    },
    async [Symbol.asyncDispose]() {
      await kernel.close({ graceMs: 0 });
      await rm(root, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

function capabilities(workspace: string, reads: readonly string[], sends: readonly string[]): Capability[] {
  const hosts = (places: readonly string[]): HostPattern[] =>
    places.map((place) => {
      const [, host = "", port = ""] = /^(.*?)(?::(\d+))?$/.exec(place) ?? [];
      return port === "" ? { host } : { host, ports: [Number(port)] };
    });
  return [
    { kind: "fs_read", prefixes: [workspace] },
    { kind: "fs_write", prefixes: [workspace] },
    { kind: "exec", names: ["*"] },
    { kind: "git", names: ["*"] },
    ...(reads.length > 0 ? [{ kind: "net_read", hosts: hosts(reads) } as const] : []),
    ...(sends.length > 0 ? [{ kind: "net_write", hosts: hosts(sends) } as const] : []),
  ];
}

function networkSession(kernel: SocketKernel, session: SocketSession): NetworkSession {
  return {
    session,
    async ask(tool, input) {
      const { response, raw } = await session.call(tool, input);
      const { result } = response;
      if (result.case !== "success") assert.fail(`${tool}: ${result.case} ${result.value?.message}`);
      assert.ok(isJsonObject(raw as JsonValue), JSON.stringify(raw));
      return raw as JsonObject;
    },
    async refused(tool, input) {
      const { result } = (await session.call(tool, input)).response;
      if (result.case === "denied") return { code: result.value.rationaleCode, message: result.value.message };
      if (result.case === "error") return { code: result.value.errorCode, message: result.value.message };
      return assert.fail(`it was done: ${tool} ${JSON.stringify(input)}`);
    },
    async egress() {
      const records = await kernel.listRecords({ chain: session.id, limit: 1000 });
      return records
        .flatMap(({ record }) => fromBinary(RecordSchema, record).entries)
        .flatMap(({ kind }) => {
          if (kind.case === "egressRequested") {
            const { method, host, port, addressClass, status } = kind.value;
            return [`${method} ${host}:${port} ${addressClass} ${status}`];
          }
          if (kind.case !== "egressRefused") return [];
          const { method, host, port, reason } = kind.value;
          return [`refused ${method} ${host}:${port} ${reason}`];
        });
    },
  };
}

export interface TestServer extends AsyncDisposable {
  readonly port: number;
  readonly place: string;
  readonly requests: SeenRequest[];
}

export interface SeenRequest {
  readonly line: string;
  readonly headers: IncomingMessage["headers"];
}

/** A server on the loopback that writes down what it is asked. */
export async function startServer(answer: RequestListener, tls?: { key: string; cert: string }): Promise<TestServer> {
  const requests: SeenRequest[] = [];
  const listener: RequestListener = (request, response) => {
    requests.push({ line: `${request.method} ${request.url}`, headers: request.headers });
    answer(request, response);
  };
  const server: Server = tls === undefined ? createServer(listener) : createTlsServer(tls, listener);
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    place: `127.0.0.1:${port}`,
    requests,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}
