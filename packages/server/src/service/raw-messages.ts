import { Code, ConnectError } from "@connectrpc/connect";
import { isKernelError, KernelError, type ToolRequest, type ToolResponse } from "@narthex/contracts";
import { invalidRequest, isUndecodable } from "../refused-response.ts";
import { type BodySource, createBodySource } from "./body-source.ts";
import { toConnectError } from "./connect-error.ts";
import { type MessageContext, bufferMessage, SessionDenied } from "./buffer-message.ts";
import { parseRequestJson, RequestJsonError } from "./request-json.ts";

/** One request as received, before anything was merged or dropped. */
export interface RawMessage {
  /** Bytes in the binary form. */
  readonly request: Uint8Array | ToolRequest | undefined;
  /** The response, if the message was refused before the kernel saw it. */
  readonly response: ToolResponse | undefined;
  readonly size: number;
  release(): void;
}

/** The requests of one call, beside the stream of placeholders that Connect gets instead of them. */
export interface RawMessages {
  readonly body: AsyncIterable<Uint8Array>;
  /** Returns the message that belongs to the placeholder just received. */
  take(): RawMessage;
  /** Releases messages that were never taken. */
  dispose(): void;
}

const HEADER_BYTES = 5;
const EMPTY_BINARY: Uint8Array = new Uint8Array(HEADER_BYTES);
const EMPTY_JSON: Uint8Array = new Uint8Array([0, 0, 0, 0, 2, 0x7b, 0x7d]);

/**
 * Extracts the messages of an enveloped body (gRPC, gRPC-Web, Connect streams).
 *
 * Connect parses messages before any handler sees them, and protobuf's parser merges what the kernel must refuse:
 * duplicate fields, two variants at once. So each envelope is emptied here, and the handlers take the bytes separately.
 * Pulling the body pulls the next message, so a handler that does not read stops the sender.
 */
export function extractRawMessages(body: AsyncIterable<Uint8Array>, gathering: MessageContext): RawMessages {
  const taken: RawMessage[] = [];
  return {
    body: placeholders(createBodySource(body), gathering, taken),
    take() {
      const message = taken.shift();
      if (message === undefined) throw new KernelError("INTERNAL", "a message is missing");
      return message;
    },
    dispose() {
      for (const message of taken.splice(0)) message.release();
    },
  };
}

async function* placeholders(
  source: BodySource,
  gathering: MessageContext,
  taken: RawMessage[],
): AsyncGenerator<Uint8Array> {
  const placeholder = gathering.isJson ? EMPTY_JSON : EMPTY_BINARY;
  try {
    for (;;) {
      const length = await readHeader(source, gathering);
      if (length === undefined) return;
      taken.push(await readMessage(source, length, gathering));
      yield placeholder;
    }
  } catch (fault) {
    if (isKernelError(fault) && fault.code === "INVALID_REQUEST") {
      gathering.kernel.refuse({ door: gathering.door, reason: "malformed" });
    }
    throw toConnectError(fault);
  }
}

/** Returns the length of the next message; undefined at the end of the body. */
async function readHeader(source: BodySource, { idleTimeoutMs }: MessageContext): Promise<number | undefined> {
  while (source.queue.length < HEADER_BYTES) {
    const begun = source.queue.length > 0;
    if (await source.more(begun ? { timeoutMs: idleTimeoutMs } : {})) continue;
    if (begun) throw new KernelError("INVALID_REQUEST", "the body ended inside a message");
    return undefined;
  }
  const [flags] = source.queue.take(1);
  const length = source.queue.peekUint32();
  source.queue.drop(4);
  if (flags === 1) throw new ConnectError("send messages uncompressed", Code.Unimplemented);
  if (flags !== 0) throw new KernelError("INVALID_REQUEST", `unknown message flags ${flags}`);
  return length;
}

async function readMessage(source: BodySource, length: number, gathering: MessageContext): Promise<RawMessage> {
  try {
    const { bytes, release } = await bufferMessage(source, length, gathering);
    if (!gathering.isJson) return { request: bytes, response: undefined, size: length, release };
    try {
      return { request: parseRequestJson(bytes), response: undefined, size: length, release };
    } catch (fault) {
      release();
      return toAnsweredMessage(respondToViolations(fault, bytes, gathering));
    }
  } catch (fault) {
    if (!(fault instanceof SessionDenied)) throw fault;
    await discard(source, length, gathering);
    return toAnsweredMessage(fault.response);
  }
}

function toAnsweredMessage(answer: ToolResponse): RawMessage {
  return { request: undefined, response: answer, size: 0, release: () => undefined };
}

/** A request that breaks rules gets a response; one that cannot be decoded ends the stream. */
function respondToViolations(fault: unknown, bytes: Uint8Array, { kernel, door }: MessageContext): ToolResponse {
  if (!(fault instanceof RequestJsonError)) throw fault;
  const answer = invalidRequest(fault.message, fault.violations, fault.requestId);
  if (isUndecodable(answer)) throw fault;
  kernel.refuse({ door, reason: "invalid_json", bytes });
  return answer;
}

async function discard(source: BodySource, length: number, { idleTimeoutMs }: MessageContext): Promise<void> {
  let left = length;
  for (;;) {
    const count = Math.min(left, source.queue.length);
    source.queue.drop(count);
    left -= count;
    if (left === 0) return;
    if (!(await source.more({ timeoutMs: idleTimeoutMs }))) return;
  }
}
