import { Code, ConnectError, type HandlerContext } from "@connectrpc/connect";
import { KernelError, type ToolResponse } from "@narthex/contracts";
import type { Kernel, WireCall } from "@narthex/kernel";
import { isUndecodable, withRequestId } from "../refused-response.ts";
import { createHandoff } from "./handoff.ts";
import type { RawMessage, RawMessages } from "./raw-messages.ts";

export type StreamEvent =
  | { readonly case: "chunk"; readonly value: Uint8Array }
  | { readonly case: "response"; readonly value: ToolResponse };

/** Larger chunks are split: clients of gRPC accept 4 MB by default. */
const MAX_CHUNK_BYTES = 1024 * 1024;

/** Handles `Call` over gRPC and gRPC-Web. */
export async function handleCall(kernel: Kernel, raw: RawMessages, context: HandlerContext): Promise<ToolResponse> {
  const message = raw.take();
  try {
    return await runRawMessage(kernel, message, context);
  } finally {
    message.release();
  }
}

/** Handles `CallStream`: the tool's output while it runs, then the response. */
export async function* streamCall(
  kernel: Kernel,
  raw: RawMessages,
  context: HandlerContext,
): AsyncGenerator<StreamEvent> {
  const message = raw.take();
  const handoff = createHandoff<Uint8Array>();
  const running = runRawMessage(kernel, message, context, (chunk) => handoff.give(chunk)).finally(() => {
    message.release();
    handoff.end();
  });
  // It is awaited below; until then its failure must not count as unhandled.
  running.catch(() => undefined);
  for await (const chunk of handoff.values()) {
    for (let at = 0; at < chunk.length; at += MAX_CHUNK_BYTES) {
      yield { case: "chunk", value: chunk.subarray(at, at + MAX_CHUNK_BYTES) };
    }
  }
  yield { case: "response", value: await running };
}

/** Runs one request and returns its response; an undecodable request is a transport error. */
export async function runRawMessage(
  kernel: Kernel,
  message: RawMessage,
  context: HandlerContext,
  onChunk?: NonNullable<WireCall["onChunk"]>,
): Promise<ToolResponse> {
  if (message.response !== undefined) return message.response;
  if (message.request === undefined) throw new KernelError("INTERNAL", "a message without a request");
  if (kernel.closing) throw new ConnectError("the kernel is shutting down", Code.Unavailable);
  const timeoutMs = context.timeoutMs();
  const response = await kernel.call({
    request: message.request,
    door: context.protocolName,
    signal: context.signal,
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
    ...(onChunk === undefined ? {} : { onChunk }),
    traceParent: context.requestHeader.get("traceparent") ?? undefined,
  });
  if (isUndecodable(response) && response.result.case === "error") {
    const { message: text, violations } = response.result.value;
    throw new KernelError("INVALID_REQUEST", text, { violations });
  }
  return message.request instanceof Uint8Array ? withRequestId(response, message.request) : response;
}
