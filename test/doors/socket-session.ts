import { randomUUID } from "node:crypto";
import {
  create,
  GetContentRequestSchema,
  type JsonValue,
  KernelService,
  type ToolRequest,
  ToolRequestSchema,
  type ToolResponse,
} from "@narthex/contracts";
import type { CallResult, SessionCallOptions } from "narthex";
import { createServicesClient, type ServicesClient } from "../../packages/narthex/src/connection/services-client.ts";

/** An answer as a client of the services' socket sees it. */
export interface SocketAnswer extends Pick<CallResult, "requestId" | "response" | "status" | "hash"> {
  /** The result, read by its type; streams are bytes. */
  readonly raw: JsonValue | Uint8Array | undefined;
  /** Undefined where the result is too large for the answer. */
  readonly normalised: Uint8Array | undefined;
  readonly metadata: Pick<CallResult["metadata"], "tool" | "labels" | "cut">;
}

/** Calls under one session's token, each sent as a message over the services' socket. */
export interface SocketCaller {
  call(tool: string, input: JsonValue, options?: SocketCallOptions): Promise<SocketAnswer>;
}

export type SocketCallOptions = Pick<
  SessionCallOptions,
  "requestId" | "dedupeKey" | "timeoutMs" | "onChunk" | "signal" | "version"
>;

/** A client of the services' socket of a kernel, in this process or another. */
export function connectServices(socketPath: string): ServicesClient {
  return createServicesClient(socketPath);
}

export function createSocketCaller(client: ServicesClient, token: string): SocketCaller {
  const request = (fields: RequestFields): ToolRequest =>
    create(ToolRequestSchema, { requestId: `req_${randomUUID()}`, sessionToken: token, ...fields });

  return {
    async call(tool, input, options = {}) {
      const { requestId = `req_${randomUUID()}`, dedupeKey = "", version = "", signal } = options;
      const value = { name: tool, version, input: Buffer.from(JSON.stringify(input)) };
      const calling = request({ requestId, dedupeKey, tool: { case: "call", value } });
      const cancel = (): void => {
        const cancelling = request({ tool: { case: "cancel", value: { requestId } } });
        client.unary(KernelService.method.call, cancelling, { token: "" }).catch(() => undefined);
      };
      signal?.addEventListener("abort", cancel, { once: true });
      try {
        return await describe(client, token, requestId, await send(client, calling, options));
      } finally {
        signal?.removeEventListener("abort", cancel);
      }
    },
  };
}

type RequestFields = NonNullable<Parameters<typeof create<typeof ToolRequestSchema>>[1]>;

/** One message and its answer; with `onChunk`, its output while it runs. */
async function send(
  client: ServicesClient,
  request: ToolRequest,
  { timeoutMs, onChunk }: SocketCallOptions,
): Promise<ToolResponse> {
  const options = { token: "", ...(timeoutMs !== undefined && { timeoutMs }) };
  if (onChunk === undefined) return client.unary(KernelService.method.call, request, options);
  for await (const { event } of client.serverStream(KernelService.method.callStream, request, options)) {
    if (event.case === "response") return event.value;
    if (event.case === "chunk") await onChunk(event.value);
  }
  throw new Error("the stream ended without an answer");
}

async function describe(
  client: ServicesClient,
  token: string,
  requestId: string,
  response: ToolResponse,
): Promise<SocketAnswer> {
  const { result } = response;
  const answer = { requestId, response, status: result.case ?? "error" };
  if (result.case !== "success") {
    return { ...answer, raw: undefined, hash: undefined, normalised: undefined, metadata: NOTHING_KNOWN };
  }
  const { tool, labels, cut, resultHash: hash, resultType, inlineResult, resultSize } = result.value;
  const isWhole = BigInt(inlineResult.length) === resultSize;
  const bytes = isWhole ? inlineResult : await readContent(client, token, hash);
  const normalised = isWhole ? inlineResult : undefined;
  return { ...answer, raw: readRaw(resultType, bytes), hash, normalised, metadata: { tool, labels, cut } };
}

const NOTHING_KNOWN: SocketAnswer["metadata"] = { tool: "", labels: [], cut: false };

function readRaw(resultType: string, bytes: Uint8Array): JsonValue | Uint8Array {
  if (resultType === "binary" || resultType === "stream") return bytes;
  const text = Buffer.from(bytes).toString("utf8");
  return resultType === "string" ? text : (JSON.parse(text) as JsonValue);
}

/** A result that is too large for its answer. */
async function readContent(client: ServicesClient, token: string, hash: Uint8Array): Promise<Uint8Array> {
  const request = create(GetContentRequestSchema, { hash });
  const chunks: Uint8Array[] = [];
  for await (const { part } of client.serverStream(KernelService.method.getContent, request, { token })) {
    if (part.case === "chunk") chunks.push(part.value);
  }
  return Buffer.concat(chunks);
}
