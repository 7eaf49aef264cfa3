import { once } from "node:events";
import { request as httpRequest, type IncomingMessage } from "node:http";
import { connect as connectHttp2, type IncomingHttpHeaders } from "node:http2";
import type { TestContext } from "node:test";
import type { Client, Transport } from "@connectrpc/connect";
import {
  createConnectTransport,
  createGrpcTransport,
  createGrpcWebTransport,
  Http2SessionManager,
} from "@connectrpc/connect-node";
import { create, type KernelService, VerifyReportSchema } from "@narthex/contracts";
import { createByteBudget } from "../byte-budget.ts";
import { createTestKernel, type TestKernel } from "../test-kernel.ts";
import { openServiceDoor, type ServiceDoorOptions } from "./service-door.ts";

export const CALL = "/narthex.v1.KernelService/Call";
export const ADMIN = "admin-token";
export const READ = "read-token";

export async function openDoor(t: TestContext, options: Partial<ServiceDoorOptions> = {}) {
  const kernel = createTestKernel();
  const budget = createByteBudget(256 * 1024 * 1024);
  const door = await openServiceDoor({
    kernel,
    budget,
    listen: { host: "127.0.0.1", port: 0 },
    authorize: async (token) =>
      token === ADMIN
        ? { scope: "admin" }
        : token === READ
          ? { scope: "read" }
          : token === "approve-token"
            ? { scope: "approve" }
            : undefined,
    verify: async (_request, onProgress) => {
      onProgress({ recordsDone: 1, recordsTotal: 2 });
      await new Promise((resolve) => setImmediate(resolve));
      return create(VerifyReportSchema, { intact: true, complete: true, records: 2n });
    },
    ...options,
  });
  t.after(() => door.close());
  const port = "port" in door.address ? door.address.port : 0;
  return { kernel, budget, door, port, baseUrl: `http://127.0.0.1:${port}` };
}

export const TRANSPORTS: readonly (readonly [string, (t: TestContext, baseUrl: string) => Transport])[] = [
  [
    "connect over HTTP/1.1",
    (_, baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: true }),
  ],
  [
    "connect JSON over HTTP/1.1",
    (_, baseUrl) => createConnectTransport({ baseUrl, httpVersion: "1.1", useBinaryFormat: false }),
  ],
  [
    "connect over HTTP/2",
    (t, baseUrl) => createConnectTransport({ baseUrl, httpVersion: "2", sessionManager: manager(t, baseUrl) }),
  ],
  [
    "connect JSON over HTTP/2",
    (t, baseUrl) =>
      createConnectTransport({
        baseUrl,
        httpVersion: "2",
        useBinaryFormat: false,
        sessionManager: manager(t, baseUrl),
      }),
  ],
  ["gRPC", (t, baseUrl) => createGrpcTransport({ baseUrl, sessionManager: manager(t, baseUrl) })],
  [
    "gRPC JSON",
    (t, baseUrl) => createGrpcTransport({ baseUrl, useBinaryFormat: false, sessionManager: manager(t, baseUrl) }),
  ],
  ["gRPC-Web over HTTP/1.1", (_, baseUrl) => createGrpcWebTransport({ baseUrl, httpVersion: "1.1" })],
  [
    "gRPC-Web JSON over HTTP/2",
    (t, baseUrl) =>
      createGrpcWebTransport({
        baseUrl,
        httpVersion: "2",
        useBinaryFormat: false,
        sessionManager: manager(t, baseUrl),
      }),
  ],
];

function manager(t: TestContext, baseUrl: string): Http2SessionManager {
  const sessions = new Http2SessionManager(baseUrl);
  t.after(() => sessions.abort());
  return sessions;
}

export function grpc(t: TestContext, baseUrl: string): Transport {
  return createGrpcTransport({ baseUrl, sessionManager: manager(t, baseUrl) });
}

export function bearer(token: string) {
  return { headers: { authorization: `Bearer ${token}` } };
}

/** Fields that a JSON response may have. */
interface AnswerJson {
  readonly requestId?: string;
  readonly success?: object;
  readonly error?: { readonly errorCode: string; readonly violations: readonly { readonly rule: string }[] };
  /** Code of a transport error. */
  readonly code?: string;
}

interface Answer {
  readonly status: number;
  readonly headers: Readonly<Record<string, string | string[] | undefined>>;
  readonly body: Buffer;
}

/** Sends one raw HTTP/1.1 request. */
export async function post(
  target: { readonly port: number } | { readonly socketPath: string },
  {
    path = CALL,
    method = "POST",
    headers = {},
    body = "",
  }: { path?: string; method?: string; headers?: Record<string, string>; body?: string | Uint8Array },
): Promise<Answer> {
  const outgoing = httpRequest({
    ...target,
    ...("port" in target ? { host: "127.0.0.1" } : {}),
    path,
    method,
    headers: { "content-type": "application/json", ...headers },
    agent: false,
  });
  outgoing.on("error", () => undefined);
  outgoing.end(body);
  const [response] = (await once(outgoing, "response")) as [IncomingMessage];
  return { status: response.statusCode ?? 0, headers: response.headers, body: await bytesOf(response) };
}

export function jsonOf({ body }: Answer): AnswerJson {
  return JSON.parse(body.toString()) as AnswerJson;
}

async function bytesOf(stream: AsyncIterable<unknown>): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of stream) if (Buffer.isBuffer(chunk)) chunks.push(chunk);
  return Buffer.concat(chunks);
}

/** Returns the next item of a stream that has not ended. */
export async function nextOf<T>(items: AsyncIterator<T>): Promise<T> {
  const next = await items.next();
  if (next.done === true) throw new Error("the stream has ended");
  return next.value;
}

export function jsonCall(kernel: TestKernel, fields: object = {}): string {
  const call = { name: "echo", input: Buffer.from("{}").toString("base64") };
  return JSON.stringify({ requestId: "r", sessionToken: kernel.token, call, ...fields });
}

export async function collect<T>(items: AsyncIterable<T>): Promise<T[]> {
  const collected: T[] = [];
  for await (const item of items) collected.push(item);
  return collected;
}

export async function put(client: Client<typeof KernelService>, kernel: TestKernel, bytes: Uint8Array) {
  async function* parts() {
    yield { part: { case: "header" as const, value: { labels: ["a"] } } };
    for (let at = 0; at < bytes.length; at += 65_536) {
      yield { part: { case: "chunk" as const, value: bytes.subarray(at, at + 65_536) } };
    }
  }
  return await client.putContent(parts(), bearer(kernel.token));
}

/** Makes one gRPC `Call` with the message given as bytes. */
export async function grpcUnary(t: TestContext, baseUrl: string, message: Uint8Array, headers = {}) {
  const session = connectHttp2(baseUrl);
  t.after(() => session.destroy());
  const stream = session.request({
    ":method": "POST",
    ":path": CALL,
    "content-type": "application/grpc",
    te: "trailers",
    ...headers,
  });
  const envelope = Buffer.alloc(5);
  envelope.writeUInt32BE(message.length, 1);
  stream.end(Buffer.concat([envelope, message]));
  let status: unknown;
  stream.on("response", (head) => {
    status = head["grpc-status"] ?? status;
  });
  stream.on("trailers", (trailers: IncomingHttpHeaders) => {
    status = trailers["grpc-status"] ?? status;
  });
  const body = await bytesOf(stream);
  session.close();
  return { status, body };
}
