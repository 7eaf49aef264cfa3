import { type JsonObject, KernelError } from "@narthex/contracts";
import { SERVER_LIMITS } from "./server-limits.ts";
import { parseServerMessage, type ServerMessage } from "./server-message.ts";
import type { ServerTransport } from "./server-transport.ts";
import { toDisplayText } from "./display-text.ts";

/** Response of a server: a result or an error. */
export type RpcResponse =
  | { readonly result: JsonObject }
  | { readonly refusal: { readonly code: number; readonly message: string } };

interface PendingRequest {
  readonly id: number;
  resolve(answer: RpcResponse): void;
  reject(fault: KernelError): void;
}

const METHOD_NOT_FOUND = -32_601;
const MAX_SHOWN = 300;

/**
 * JSON-RPC connection with one server, one request at a time.
 *
 * SECURITY: servers are untrusted. Their messages are counted and limited. Any message other than the response to the
 * open request or a valid notification ends the server, so it harms only the open call.
 */
export class ServerConnection {
  readonly #transport: ServerTransport;
  #awaited: PendingRequest | undefined;
  #fault: KernelError | undefined;
  #lastId = 0;
  /** Number of messages since the last request. */
  #messageCount = 0;
  #byteCount = 0;
  #refused = 0;
  /** The server reported that its tools changed, or cannot send such reports. */
  listHasChanged = false;

  constructor(transport: ServerTransport) {
    this.#transport = transport;
    transport.listen({
      onBytes: (count) => this.#count(count),
      onMessage: (message) => this.#read(message),
      isPending: (id) => this.#awaited?.id === id,
      onResponseEnd: (id) => {
        if (this.#awaited?.id === id) this.end("it ended its answer without answering");
      },
      onEnd: (why) => this.end(why),
    });
  }

  get notifiesListChanges(): boolean {
    return this.#transport.notifiesListChanges;
  }

  /** Why the connection cannot be used any more. */
  get fault(): KernelError | undefined {
    return this.#fault;
  }

  /**
   * INVARIANT: one request at a time. Aborting ends the server, because nothing would account for what it does
   * afterwards.
   */
  async request(method: string, params: JsonObject, signal: AbortSignal): Promise<RpcResponse> {
    if (this.#fault !== undefined) throw this.#fault;
    if (this.#awaited !== undefined) throw new KernelError("INTERNAL", "a server is asked one thing at a time");
    const id = ++this.#lastId;
    this.#messageCount = 0;
    this.#byteCount = 0;
    this.#refused = 0;
    const { promise, resolve, reject } = Promise.withResolvers<RpcResponse>();
    this.#awaited = { id, resolve, reject };
    const giveUp = (): void => this.end("it did not answer in time, or the call was cancelled");
    signal.addEventListener("abort", giveUp, { once: true });
    if (signal.aborted) giveUp();
    this.#send({ jsonrpc: "2.0", id, method, params });
    try {
      return await promise;
    } finally {
      signal.removeEventListener("abort", giveUp);
      this.#awaited = undefined;
      this.#transport.completeRequest();
    }
  }

  notify(method: string): void {
    this.#send({ jsonrpc: "2.0", method });
  }

  setRevision(revision: string): void {
    this.#transport.setRevision(revision);
  }

  /** Ends the server and rejects the open request with the reason. */
  end(why: string): void {
    if (this.#fault !== undefined) return;
    this.#fault = new KernelError("EXECUTION_FAILED", `the MCP server was ended: ${why}${this.#lastWords()}`);
    this.#transport.end(this.#awaited?.id);
    this.#awaited?.reject(this.#fault);
  }

  #send(message: JsonObject): void {
    if (this.#fault === undefined) this.#transport.send(message);
  }

  #count(bytes: number): void {
    this.#byteCount += bytes;
    if (this.#byteCount > SERVER_LIMITS.bytes) this.end(`it sent more than ${SERVER_LIMITS.bytes} bytes unasked`);
  }

  #read(message: Uint8Array): void {
    if (this.#fault !== undefined) return;
    if (++this.#messageCount > SERVER_LIMITS.lines) this.end(`it sent more than ${SERVER_LIMITS.lines} lines unasked`);
    else this.#handle(parseServerMessage(message));
  }

  #handle(message: ServerMessage): void {
    switch (message.kind) {
      case "noise":
        return;
      case "broken":
        return this.end(`it sent ${message.why}`);
      case "notification":
        if (message.method === "notifications/tools/list_changed") this.listHasChanged = true;
        return;
      case "request":
        return this.#answerRequest(message.id, message.method);
      default:
        return this.#settle(message);
    }
  }

  #settle(message: Extract<ServerMessage, { readonly kind: "result" | "error" }>): void {
    const awaited = this.#awaited;
    if (awaited === undefined || awaited.id !== message.id) return this.end("it answered what nobody had asked");
    this.#awaited = undefined;
    if (message.kind === "result") awaited.resolve({ result: message.result });
    else awaited.resolve({ refusal: { code: message.code, message: message.message } });
  }

  /**
   * SECURITY: a server cannot make the kernel ask a person or a model on its behalf, nor learn anything about this
   * host.
   */
  #answerRequest(id: string | number, method: string): void {
    if (method === "ping") return this.#send({ jsonrpc: "2.0", id, result: {} });
    if (++this.#refused > SERVER_LIMITS.refusedRequests) {
      return this.end(`it went on asking for \`${toDisplayText(method, 60)}\`, which was refused`);
    }
    const error = { code: METHOD_NOT_FOUND, message: "this client takes no requests" };
    this.#send({ jsonrpc: "2.0", id, error });
  }

  #lastWords(): string {
    const text = toDisplayText(this.#transport.stderrTail().slice(-MAX_SHOWN), MAX_SHOWN);
    return text === "" ? "" : `; it said: ${text}`;
  }
}
