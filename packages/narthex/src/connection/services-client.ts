import { Agent, type ClientRequest, type IncomingMessage, request as sendRequest } from "node:http";
import type {
  DescMessage,
  DescMethodClientStreaming,
  DescMethodServerStreaming,
  DescMethodUnary,
  MessageShape,
} from "@bufbuild/protobuf";
import { fromBinary, toBinary } from "@narthex/contracts";
import { unreachable } from "./connection-error.ts";
import { encodeEnvelope, readEnvelopes } from "./envelope.ts";
import { parseErrorBody, parseStreamEnd } from "./service-error.ts";

/**
 * A client of the services door over its unix socket.
 *
 * Implements the Connect protocol's binary form itself: loading a full client library takes a fifth of a second, which
 * is most of the time of a short command.
 */
export interface ServicesClient {
  unary<I extends DescMessage, O extends DescMessage>(
    method: DescMethodUnary<I, O>,
    input: MessageShape<I>,
    options: ServiceCallOptions,
  ): Promise<MessageShape<O>>;
  serverStream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodServerStreaming<I, O>,
    input: MessageShape<I>,
    options: ServiceCallOptions,
  ): AsyncIterable<MessageShape<O>>;
  /** Calls a method with a stream of inputs and one output. */
  clientStream<I extends DescMessage, O extends DescMessage>(
    method: DescMethodClientStreaming<I, O>,
    inputs: AsyncIterable<MessageShape<I>>,
    options: ServiceCallOptions,
  ): Promise<MessageShape<O>>;
  close(): void;
}

export interface ServiceCallOptions {
  /** Empty for methods that authenticate by their message. */
  readonly token: string;
  readonly signal?: AbortSignal;
  readonly timeoutMs?: number;
  /** The door that a decision comes from, if it is not this one. */
  readonly door?: string;
  readonly traceParent?: string;
}

interface MethodName {
  readonly name: string;
  readonly parent: { readonly typeName: string };
}

/** Larger than any single message that the kernel sends. */
const MAX_RESPONSE_BYTES = 128 * 1024 * 1024;

export function createServicesClient(socketPath: string): ServicesClient {
  const agent = new Agent({ keepAlive: true });
  const open = (method: MethodName, contentType: string, options: ServiceCallOptions): ClientRequest =>
    sendRequest({
      agent,
      socketPath,
      method: "POST",
      path: `/${method.parent.typeName}/${method.name}`,
      headers: requestHeaders(contentType, options),
      ...(options.signal === undefined ? {} : { signal: options.signal }),
    });

  return {
    async unary(method, input, options) {
      const request = open(method, "application/proto", options);
      const answered = waitForResponse(request, socketPath);
      request.end(toBinary(method.input, input));
      const response = await answered;
      const body = await readBody(response, socketPath);
      if (response.statusCode !== 200) throw parseErrorBody(response.statusCode ?? 0, body);
      return fromBinary(method.output, body);
    },

    async *serverStream(method, input, options) {
      const request = open(method, "application/connect+proto", options);
      const answered = waitForResponse(request, socketPath);
      request.end(encodeEnvelope(toBinary(method.input, input)));
      try {
        yield* readMessages(await answered, method.output, socketPath);
      } finally {
        request.destroy();
      }
    },

    async clientStream(method, inputs, options) {
      const request = open(method, "application/connect+proto", options);
      const answered = waitForResponse(request, socketPath);
      const sent = sendMessages(request, method.input, inputs);
      try {
        const response = await Promise.race([answered, sent.then(() => answered)]);
        for await (const output of readMessages(response, method.output, socketPath)) return output;
        throw unreachable(socketPath, "the kernel ended the stream without an answer");
      } finally {
        request.destroy();
        await sent.catch(() => undefined);
      }
    },

    close: () => agent.destroy(),
  };
}

function requestHeaders(contentType: string, options: ServiceCallOptions): Record<string, string> {
  return {
    host: "localhost",
    "content-type": contentType,
    "connect-protocol-version": "1",
    ...(options.token === "" ? {} : { authorization: `Bearer ${options.token}` }),
    ...(options.door === undefined ? {} : { "narthex-door": options.door }),
    ...(options.traceParent === undefined ? {} : { traceparent: options.traceParent }),
    ...(options.timeoutMs === undefined ? {} : { "connect-timeout-ms": String(options.timeoutMs) }),
  };
}

function waitForResponse(request: ClientRequest, socketPath: string): Promise<IncomingMessage> {
  const answered = new Promise<IncomingMessage>((resolve, reject) => {
    request.once("response", resolve);
    request.on("error", (error) => reject(error.name === "AbortError" ? error : unreachable(socketPath, error)));
  });
  // Prevents an unhandled rejection: the caller may still be sending when the connection breaks, and awaits this later.
  answered.catch(() => undefined);
  return answered;
}

async function readBody(response: IncomingMessage, socketPath: string): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of readChunks(response, socketPath)) {
    size += chunk.length;
    if (size > MAX_RESPONSE_BYTES) throw unreachable(socketPath, "the kernel's answer is too long");
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

async function* readMessages<O extends DescMessage>(
  response: IncomingMessage,
  output: O,
  socketPath: string,
): AsyncGenerator<MessageShape<O>> {
  if (response.statusCode !== 200) {
    throw parseErrorBody(response.statusCode ?? 0, await readBody(response, socketPath));
  }
  for await (const envelope of readEnvelopes(readChunks(response, socketPath), MAX_RESPONSE_BYTES)) {
    if (!envelope.isEndStream) {
      yield fromBinary(output, envelope.data);
      continue;
    }
    const failure = parseStreamEnd(envelope.data);
    if (failure !== undefined) throw failure;
    return;
  }
  throw unreachable(socketPath, "the kernel ended the stream too early");
}

async function* readChunks(response: IncomingMessage, socketPath: string): AsyncGenerator<Uint8Array> {
  try {
    for await (const chunk of response) {
      if (chunk instanceof Uint8Array) yield chunk;
    }
  } catch (error) {
    if (error instanceof Error && error.name === "AbortError") throw error;
    throw unreachable(socketPath, error);
  }
}

async function sendMessages<I extends DescMessage>(
  request: ClientRequest,
  input: I,
  messages: AsyncIterable<MessageShape<I>>,
): Promise<void> {
  for await (const message of messages) {
    if (request.destroyed) return;
    if (!request.write(encodeEnvelope(toBinary(input, message)))) await waitForDrain(request);
  }
  request.end();
}

function waitForDrain(request: ClientRequest): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      request.off("drain", done);
      request.off("close", done);
      resolve();
    };
    request.once("drain", done);
    request.once("close", done);
  });
}
