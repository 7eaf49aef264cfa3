import type { Readable, Writable } from "node:stream";
import { type JSONRPCMessage, parseJSONRPCMessage, type Transport } from "@modelcontextprotocol/server";
import { isJsonObject, type JsonObject, JsonSyntaxError, type JsonValue, parseJson } from "@narthex/contracts";
import { ResponseTemplates } from "./response-templates.ts";
import type { RunningFastPathCall } from "./call-tool.ts";
import { type FastPathCall, parseFastPathCall } from "./fast-path-call.ts";

export interface StrictStdioOptions {
  readonly input: Readable;
  readonly output: Writable;
  /** Where lines are written; the output's own by default. */
  readonly write?: (line: string) => boolean;
  readonly maxLineBytes: number;
  /** Requests that may run at once; what comes after them waits in the pipe. */
  readonly maxCalls: number;
  /** Runs a call by itself, if it may: one that is like calls which the SDK took before. */
  readonly runFastPath?: (call: FastPathCall, gone: AbortSignal) => RunningFastPathCall;
  onRefused(reason: string, bytes: Uint8Array): void;
}

/** A request without an answer yet. */
interface PendingRequest {
  /** Of a tool call. */
  readonly input: JsonObject;
  readonly plain: FastPathCall | undefined;
  /** The SDK's checks let it through, and others like it may do without them. */
  mayTeach: boolean;
  cancel: (() => void) | undefined;
}

const NEWLINE = 0x0a;
const PARSE_ERROR = -32_700;
const INVALID_REQUEST = -32_600;
const FINAL_RESPONSES_MS = 5000;
const LISTEN = "subscriptions/listen";
const INITIALIZE = "initialize";
/** How much of a refused line is shown to the ledger. */
const REFUSED_BYTES = 4096;

/**
 * Messages as lines of JSON, read strictly: a line with a key given twice, a number that does not survive or nesting
 * without end is answered with an error instead of being read in one of several ways.
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
   * The arguments of a running tool call exactly as they were sent: the SDK's own copy leaves some keys out.
   * Undefined once the request was answered or cancelled.
   */
  argumentsOf(id: string | number): JsonObject | undefined {
    return this.#unanswered.get(id)?.input;
  }

  /** Calls like this one, whose client is asked nothing, need the SDK no more once it is answered. */
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

  /** A client that has said all it has to say still gets its answers, for a while. */
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
      // Whoever listens for changes waits for no answer.
      if (message.method !== LISTEN) this.#await(message.id, { input, plain, mayTeach: false, cancel: undefined });
      if (message.method === INITIALIZE) this.#unlearn();
    }
    this.onmessage?.(message);
    // A cancelled request is not answered.
    if ("method" in message && message.method === "notifications/cancelled" && !("id" in message)) {
      const id = message.params?.["requestId"];
      if (typeof id === "string" || typeof id === "number") this.#cancel(id);
    }
  }

  /** Runs a call without the SDK, if it can be. Its checks would find what they found in one before it. */
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

  /** The client says anew what it is: what it was asked, or not, may be another matter now. */
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
    // The answer to a request that runs must not come from another.
    const id = found !== null && this.#unanswered.has(found) ? null : found;
    void this.#writeLine(JSON.stringify({ jsonrpc: "2.0", id, error: { code, message } }));
  }

  /** Lines of one turn go out in one piece: answers that became durable together wake their client once. */
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

/** The id under which a refused message would have been answered, so that its sender does not wait for ever. */
function findRequestId(line: Buffer): string | number | null {
  try {
    const value: unknown = JSON.parse(line.toString());
    const id = typeof value === "object" && value !== null && "id" in value ? value.id : null;
    return typeof id === "string" || typeof id === "number" ? id : null;
  } catch {
    return null;
  }
}
