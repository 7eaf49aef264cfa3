import {
  create,
  GetContentRequestSchema,
  type GetContentResponse,
  KernelService,
  type PutContentRequest,
  PutContentRequestSchema,
  type ToolRequest,
  type ToolResponse,
} from "@narthex/contracts";
import { CommandError } from "../terminal/command-error.ts";
import type { CallOptions, ContentQuery, ContentStream, PutContentInput, StoredContent } from "./kernel-connection.ts";
import type { ServicesClient } from "./services-client.ts";

/** Maximum size of a piece of content in one message. */
const MAX_CHUNK_BYTES = 256 * 1024;

/** Makes one call; with `onChunk`, streams its output while it runs. */
export async function callOverServices(
  client: ServicesClient,
  request: ToolRequest,
  { signal, timeoutMs, onChunk, traceParent }: CallOptions,
): Promise<ToolResponse> {
  const options = {
    token: "",
    signal,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(traceParent === undefined ? {} : { traceParent }),
  };
  if (onChunk === undefined) return client.unary(KernelService.method.call, request, options);
  for await (const { event } of client.serverStream(KernelService.method.callStream, request, options)) {
    if (event.case === "response") return event.value;
    if (event.case === "chunk") await onChunk(event.value);
  }
  throw new CommandError("KERNEL_UNREACHABLE", "the kernel ended the stream without an answer");
}

export async function openContent(client: ServicesClient, query: ContentQuery, token: string): Promise<ContentStream> {
  const request = create(GetContentRequestSchema, {
    hash: query.hash,
    offset: BigInt(query.offset),
    limit: BigInt(query.limit),
  });
  const parts = client.serverStream(KernelService.method.getContent, request, { token })[Symbol.asyncIterator]();
  const first = await parts.next();
  const part = first.done === true ? undefined : first.value.part;
  if (part?.case !== "info")
    throw new CommandError("KERNEL_UNREACHABLE", "the content's first message does not describe it");
  const { hash, size, labels } = part.value;
  return { hash, size: Number(size), labels, chunks: chunksOf(parts) };
}

export async function sendContent(client: ServicesClient, put: PutContentInput): Promise<StoredContent> {
  const parts = toPutRequests(put);
  const { hash, size, labels } = await client.clientStream(KernelService.method.putContent, parts, {
    token: put.token,
  });
  return { hash, size: Number(size), labels };
}

async function* chunksOf(parts: AsyncIterator<GetContentResponse>): AsyncGenerator<Uint8Array> {
  try {
    for (let next = await parts.next(); next.done !== true; next = await parts.next()) {
      if (next.value.part.case === "chunk") yield next.value.part.value;
    }
  } finally {
    await parts.return?.();
  }
}

async function* toPutRequests({ chunks, expectedHash, labels }: PutContentInput): AsyncGenerator<PutContentRequest> {
  const header = { labels: [...labels], ...(expectedHash === undefined ? {} : { expectedHash }) };
  yield create(PutContentRequestSchema, { part: { case: "header", value: header } });
  for await (const chunk of chunks) {
    for (let at = 0; at < chunk.length; at += MAX_CHUNK_BYTES) {
      const value = chunk.subarray(at, at + MAX_CHUNK_BYTES);
      yield create(PutContentRequestSchema, { part: { case: "chunk", value } });
    }
  }
}
