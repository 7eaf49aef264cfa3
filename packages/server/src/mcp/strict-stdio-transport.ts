import type { Readable, Writable } from "node:stream";
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from "@modelcontextprotocol/server";
import { isJsonObject, type JsonObject, JsonSyntaxError, type JsonValue, parseJson } from "@narthex/contracts";
import { ResponseTemplates } from "./response-templates.ts";
import type { RunningFastPathCall } from "./call-tool.ts";
import { type FastPathCall, parseFastPathCall } from "./fast-path-call.ts";

export interface StrictStdioOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Writes a line; to the output by default. */
  readonly write?: (line: string) => boolean;
  readonly maxLineBytes: number;
  /** Maximum number of running requests; further ones wait in the pipe. */
  readonly maxCalls: number;
  /** Runs a call without the SDK, which is only done for calls like those that the SDK has accepted before. */
  readonly runFastPath?: (call: FastPathCall, gone: AbortSignal) => RunningFastPathCall;
  onRefused(reason: string, bytes: Uint8Array): void;
}

/** A request without a response yet. */
interface PendingRequest {
  /** Arguments of a tool call. */
  readonly input: JsonObject;
  readonly plain: FastPathCall | undefined;
  /**
   * Whether the response may become a template: the SDK's checks accepted the call, and similar calls may skip them.
   */
  mayTeach: boolean;
  cancel: (() => void) | undefined;
}

const NEWLINE = 0x0a;
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const FINAL_RESPONSES_MS = 5000;
const LISTEN = "subscriptions/listen";
const INITIALIZE = "initialize";
/** How much of a refused line is passed to the ledger. */
const REFUSED_BYTES = 4096;

/**
 * Reads messages as lines of JSON, strictly: a line with a duplicate key, a number that would lose precision or
 * excessive nesting gets an error instead of one of several interpretations.
 */
export class StrictStdioTransport implements Transport {
  onclose?: (() => void) | undefined;
  onerror?: ((error: Error) => void) | undefined;
  onmessage?: Transport["onmessage"];
  readonly #options: StrictStdioOptions;
  readonly #write: (line: string) => boolean;
  #parts: Buffer[] = [];
  #bytes = 0;
  #isTooLong = false;
  readonly #unanswered = new Map<string | number, PendingRequest>();
  readonly #frames = new ResponseTemplates();
  readonly #gone = new AbortController();
  #answered: (() => void) | undefined;
  #lines = "";
  #flushed: Promise<void> | undefined;
  #closed = false;

  constructor(options: StrictStdioOptions) {
    this.#options = options;
    this.#write = options.write ?? ((line) => options.output.write(line));
  }

  start(): Promise<void> {
    const { input, output } = this.#options;
    input.on("data", this.#receive);
    input.on("end", this.#ended);
    input.on("close", this.#ended);
    input.on("error", this.#failed);
    output.on("error", this.#failed);
    return Promise.resolve();
  }

  /**
   * Returns the arguments of a running tool call exactly as sent: the SDK's own copy omits some keys. Undefined once
   * the request has a response or was cancelled.
   */
  argumentsOf(id: string | number): JsonObject | undefined {
    return this.#unanswered.get(id)?.input;
  }

  /** Lets calls like this one, whose client gets no approval forms, skip the SDK once it has its response. */
  enableFastPath(id: string | number): void {
    const request = this.#unanswered.get(id);
    if (request?.plain !== undefined) request.mayTeach = true;
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if ("result" in message) this.#learn(message.id, message.result);
    await this.#writeLine(JSON.stringify(message));
    if (!("method" in message) && message.id !== undefined) this.#settle(message.id);
  }

  #learn(id: string | number, result: object): void {
    const request = this.#unanswered.get(id);
    if (request?.plain !== undefined && request.mayTeach) this.#frames.learn(request.plain.meta, result);
  }

  close(): Promise<void> {
    if (this.#closed) return Promise.resolve();
    void this.#flush();
    this.#closed = true;
    const { input, output } = this.#options;
    input.off("data", this.#receive);
    input.off("end", this.#ended);
    input.off("close", this.#ended);
    input.off("error", this.#failed);
    output.off("error", this.#failed);
    input.pause();
    this.#parts = [];
    this.onclose?.();
    this.#gone.abort();
    return Promise.resolve();
  }

  readonly #receive = (chunk: Buffer): void => {
    let from = 0;
    for (;;) {
      const end = chunk.indexOf(NEWLINE, from);
      if (end < 0) break;
      this.#gather(chunk.subarray(from, end));
      this.#endLine();
      from = end + 1;
    }
    this.#gather(chunk.subarray(from));
  };

  /** A client that has closed its output still gets pending responses, for a limited time. */
  readonly #ended = (): void => {
    const close = (): void => void this.close();
    if (this.#unanswered.size === 0) return close();
    this.#answered ??= close;
    setTimeout(close, FINAL_RESPONSES_MS).unref();
  };

  readonly #failed = (error: Error): void => {
    this.onerror?.(error);
    this.#lines = "";
    void this.close();
  };

  #gather(part: Buffer): void {
    if (part.length === 0 || this.#isTooLong) return;
    this.#bytes += part.length;
    if (this.#bytes > this.#options.maxLineBytes) {
      this.#isTooLong = true;
      this.#parts = [];
    } else this.#parts.push(part);
  }

  #endLine(): void {
    const line = Buffer.concat(this.#parts);
    const isTooLong = this.#isTooLong;
    this.#parts = [];
    this.#bytes = 0;
    this.#isTooLong = false;
    if (isTooLong) this.#refuse("too_large", line, INVALID_REQUEST, "the message is too long");
    else if (line.length > 0 && line.toString("latin1").trim() !== "") this.#read(line);
  }

  #read(line: Buffer): void {
    let message: JSONRPCMessage;
    let plain: FastPathCall | undefined;
    let input: JsonObject;
    try {
      const json = parseJson(line);
      plain = parseFastPathCall(json);
      if (plain !== undefined && this.#passes(plain)) return;
      message = parseJSONRPCMessage(json);
      input = argumentsOf(json);
    } catch (error) {
      if (error instanceof JsonSyntaxError) this.#refuse("invalid_json", line, PARSE_ERROR, error.message);
      else this.#refuse("malformed", line, INVALID_REQUEST, "this is no JSON-RPC message");
      return;
    }
    if ("method" in message && "id" in message) {
      if (this.#unanswered.has(message.id)) {
        this.#refuse("duplicate_id", line, INVALID_REQUEST, "a request with this id is running");
        return;
      }
      // A subscription gets no response.
      if (message.method !== LISTEN) this.#await(message.id, { input, plain, mayTeach: false, cancel: undefined });
      if (message.method === INITIALIZE) this.#unlearn();
    }
    this.onmessage?.(message);
    // A cancelled request gets no response.
    if ("method" in message && message.method === "notifications/cancelled" && !("id" in message)) {
      const id = message.params?.["requestId"];
      if (typeof id === "string" || typeof id === "number") this.#cancel(id);
    }
  }

  /** Runs a call without the SDK, if possible. The SDK's checks would repeat those of an earlier call. */
  #passes(call: FastPathCall): boolean {
    const { runFastPath } = this.#options;
    const frame = this.#frames.find(call.meta);
    if (runFastPath === undefined || frame === undefined || this.#unanswered.has(call.id)) return false;
    const running = runFastPath(call, this.#gone.signal);
    const request = { input: call.input, plain: undefined, mayTeach: false, cancel: running.cancel };
    this.#await(call.id, request);
    void running.result.then(async (result) => {
      if (this.#unanswered.get(call.id) !== request) return;
      await this.#writeLine(frame(call.id, result));
      this.#settle(call.id);
    });
    return true;
  }

  #await(id: string | number, request: PendingRequest): void {
    this.#unanswered.set(id, request);
    if (this.#unanswered.size >= this.#options.maxCalls) this.#options.input.pause();
  }

  /** A client that initializes again may have other abilities, so nothing learned before applies. */
  #unlearn(): void {
    this.#frames.forget();
    for (const request of this.#unanswered.values()) request.mayTeach = false;
  }

  #cancel(id: string | number): void {
    this.#unanswered.get(id)?.cancel?.();
    this.#settle(id);
  }

  #settle(id: string | number): void {
    this.#unanswered.delete(id);
    if (this.#unanswered.size < this.#options.maxCalls && !this.#closed) this.#options.input.resume();
    if (this.#unanswered.size === 0) this.#answered?.();
  }

  #refuse(reason: string, line: Buffer, code: number, message: string): void {
    this.#options.onRefused(reason, line.subarray(0, REFUSED_BYTES));
    const found = findRequestId(line);
    // An error must not use the id of a running request.
    const id = found !== null && this.#unanswered.has(found) ? null : found;
    void this.#writeLine(JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } }));
  }

  /** Lines of one turn are written at once, so that responses which became durable together wake their client once. */
  #writeLine(text: string): Promise<void> {
    if (this.#closed) return Promise.resolve();
    this.#lines += `${text}\n`;
    this.#flushed ??= new Promise((resolve) => process.nextTick(() => resolve(this.#flush())));
    return this.#flushed;
  }

  #flush(): Promise<void> | undefined {
    const lines = this.#lines;
    this.#lines = "";
    this.#flushed = undefined;
    if (lines === "" || this.#write(lines)) return undefined;
    const { output } = this.#options;
    return new Promise((resolve) => {
      const done = (): void => {
        output.off("drain", done);
        output.off("close", done);
        resolve();
      };
      output.on("drain", done);
      output.on("close", done);
    });
  }
}

function argumentsOf(message: JsonValue): JsonObject {
  const params = isJsonObject(message) ? message["params"] : undefined;
  const given = isJsonObject(params) ? params["arguments"] : undefined;
  return isJsonObject(given) ? given : {};
}

/** Finds the request id of a refused message, so that its client does not wait for ever. */
function findRequestId(line: Buffer): string | number | null {
  try {
    const value: unknown = JSON.parse(line.toString());
    const id = typeof value === "object" && value !== null && "id" in value ? value.id : null;
    return typeof id === "string" || typeof id === "number" ? id : null;
  } catch {
    return null;
  }
}
