import { fromJson, type JsonObject } from "@bufbuild/protobuf";
import { EmptySchema, type Value, ValueSchema } from "@bufbuild/protobuf/wkt";
import { type ConnectRouter, type ContextKey, createContextKey, type HandlerContext } from "@connectrpc/connect";
import {
  CallStreamResponseSchema,
  create,
  KernelError,
  KernelService,
  type ToolResponse,
  ToolResponseSchema,
} from "@narthex/contracts";
import type { Kernel } from "@narthex/kernel";
import { handleCall, type StreamEvent, streamCall } from "./call-stream.ts";
import { messageToJson } from "./message-json.ts";
import type { RawMessages } from "./raw-messages.ts";
import { runSessionStream } from "./session-stream.ts";

export interface RawMethodOptions {
  readonly kernel: Kernel;
  readonly maxCallsPerStream: number;
  readonly maxBytesPerStream: number;
  readonly stopping: AbortSignal;
}

/** The extracted requests of a call. */
export const rawMessagesKey: ContextKey<RawMessages | undefined> = createContextKey<RawMessages | undefined>(undefined);

const { call, callStream, session } = KernelService.method;

/**
 * Registers the three methods that take a ToolRequest: Connect passes them empty messages, and they take the real ones
 * separately.
 */
export function registerBinaryMethods(router: ConnectRouter, options: RawMethodOptions): void {
  const { kernel } = options;
  router.rpc({ ...call, input: EmptySchema }, (_, context) => handleCall(kernel, getRawMessages(context), context));
  router.rpc({ ...callStream, input: EmptySchema }, async function* (_, context) {
    for await (const event of streamCall(kernel, getRawMessages(context), context)) yield { event };
  });
  router.rpc({ ...session, input: EmptySchema }, (placeholders, context) =>
    runSessionStream(placeholders, sessionOptions(options, context)),
  );
}

/**
 * Registers the same methods for JSON. Their output is a free JSON value, encoded by this package: protobuf's own
 * writer is slow with bytes.
 */
export function registerJsonMethods(router: ConnectRouter, options: RawMethodOptions): void {
  const { kernel } = options;
  router.rpc({ ...call, input: EmptySchema, output: ValueSchema }, async (_, context) =>
    responseValue(await handleCall(kernel, getRawMessages(context), context)),
  );
  router.rpc({ ...callStream, input: EmptySchema, output: ValueSchema }, async function* (_, context) {
    for await (const event of streamCall(kernel, getRawMessages(context), context)) yield eventValue(event);
  });
  router.rpc({ ...session, input: EmptySchema, output: ValueSchema }, async function* (placeholders, context) {
    const responses = runSessionStream(placeholders, sessionOptions(options, context));
    for await (const response of responses) yield responseValue(response);
  });
}

function getRawMessages(context: HandlerContext): RawMessages {
  const raw = context.values.get(rawMessagesKey);
  if (raw === undefined) throw new KernelError("INTERNAL", "a request without its messages");
  return raw;
}

function sessionOptions(options: RawMethodOptions, context: HandlerContext) {
  const { kernel, maxCallsPerStream: maxCalls, maxBytesPerStream: maxBytes, stopping } = options;
  return { kernel, raw: getRawMessages(context), context, maxCalls, maxBytes, stopping };
}

function responseValue(response: ToolResponse): Value {
  return toValue(messageToJson(ToolResponseSchema, response));
}

function eventValue(event: StreamEvent): Value {
  return toValue(messageToJson(CallStreamResponseSchema, create(CallStreamResponseSchema, { event })));
}

function toValue(json: JsonObject): Value {
  return fromJson(ValueSchema, json);
}
