import type { Socket } from "node:net";
import { unreachable } from "./connection-error.ts";

/** One connection to a services socket, for sequential requests. */
export interface JsonExchange {
  /** Sends a JSON body and resolves with the response's body. Call it only after the previous response has arrived. */
  post(request: JsonRequest): Promise<JsonResponse>;
  close(): void;
}

export interface JsonRequest {
  readonly path: string;
  readonly token: string;
  readonly body: string;
}

export interface JsonResponse {
  readonly status: number;
  readonly body: string;
}

const MAX_RESPONSE_BYTES = 16 * 1024 * 1024;
/** Errors which mean that no kernel runs, as opposed to one that sends an invalid response. */
const NOT_LISTENING: ReadonlySet<unknown> = new Set(["ENOENT", "ECONNREFUSED"]);
const HEAD_END = "\r\n\r\n";

/**
 * Connects to a services socket; returns undefined if no process listens there.
 *
 * Implements only the part of HTTP/1.1 that the services door uses: loading Node's own HTTP client takes ten
 * milliseconds, more than the rest of a hook. Throws for a response in any other form.
 */
export async function openJsonExchange(socketPath: string): Promise<JsonExchange | undefined> {
  const socket = await connectSocket(socketPath);
  if (socket === undefined) return undefined;
  return {
    post(request) {
      const response = readResponse(socket, socketPath);
      socket.write(encodeRequest(request));
      return response;
    },
    close: () => void socket.destroy(),
  };
}

async function connectSocket(path: string): Promise<Socket | undefined> {
  const { connect } = await import("node:net");
  const socket = connect(path);
  return new Promise((resolve, reject) => {
    socket.once("connect", () => {
      socket.removeAllListeners("error");
      resolve(socket);
    });
    socket.once("error", (error) => {
      if ("code" in error && NOT_LISTENING.has(error.code)) resolve(undefined);
      else reject(unreachable(path, error));
    });
  });
}

function encodeRequest({ path, token, body }: JsonRequest): string {
  const head = [
    `POST ${path} HTTP/1.1`,
    "host: localhost",
    "content-type: application/json",
    "connect-protocol-version: 1",
    `authorization: Bearer ${token}`,
    `content-length: ${Buffer.byteLength(body)}`,
  ];
  return `${head.join("\r\n")}${HEAD_END}${body}`;
}

function readResponse(socket: Socket, socketPath: string): Promise<JsonResponse> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const settle = (end: () => void): void => {
      for (const event of ["data", "error", "close"]) socket.removeAllListeners(event);
      end();
    };
    const fail = (reason: unknown): void => settle(() => reject(unreachable(socketPath, reason)));
    socket.on("error", fail);
    socket.on("close", () => fail("the kernel closed the connection without an answer"));
    socket.on("data", (chunk: Buffer) => {
      chunks.push(chunk);
      size += chunk.length;
      if (size > MAX_RESPONSE_BYTES) return fail("the kernel's answer is too long");
      try {
        const response = parseResponse(Buffer.concat(chunks));
        if (response !== undefined) settle(() => resolve(response));
      } catch (problem) {
        fail(problem);
      }
    });
  });
}

/** Returns undefined while the response is incomplete. Throws if it is not a response with a Content-Length. */
function parseResponse(bytes: Buffer): JsonResponse | undefined {
  const headEnd = bytes.indexOf(HEAD_END);
  if (headEnd < 0) return undefined;
  const head = bytes.toString("latin1", 0, headEnd);
  const status = /^HTTP\/1\.1 (?<status>\d{3}) /.exec(head)?.groups?.["status"];
  const length = /\r\ncontent-length: *(?<length>\d{1,9})(?:\r\n|$)/i.exec(head)?.groups?.["length"];
  if (status === undefined || length === undefined) throw new Error("the answer is not one of a kernel");
  const start = headEnd + HEAD_END.length;
  const end = start + Number(length);
  if (bytes.length > end) throw new Error("the kernel answered more than it announced");
  return bytes.length < end ? undefined : { status: Number(status), body: bytes.toString("utf8", start, end) };
}
