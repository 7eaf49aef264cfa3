import { connect, type Socket } from "node:net";
import {
  create,
  decodeResponse,
  encode,
  KernelError,
  MAX_FRAME_BYTES,
  type ToolRequest,
  ToolRequestSchema,
  type ToolResponse,
} from "@narthex/contracts";
import { ByteQueue } from "./byte-queue.ts";
import { FRAME_HEADER_BYTES, joinFrames, PREFACE } from "./frame.ts";

export interface FramedClient {
  /**
   * Sends one request and resolves with its response. Aborting the signal asks the kernel to cancel the call; the
   * response still arrives and reports the outcome.
   */
  call(request: ToolRequest, options?: { readonly signal?: AbortSignal }): Promise<ToolResponse>;
  /** Disconnects; calls without a response reject. */
  close(): Promise<void>;
}

const MAX_CONNECT_DELAY_MS = 1000;

interface Pending {
  resolve(response: ToolResponse): void;
  reject(error: KernelError): void;
}

/** Connects to the framed socket of a running kernel. */
export async function connectFramed(path: string): Promise<FramedClient> {
  const socket = await openSocket(path);
  const pending = new Map<string, Pending>();
  const queue = new ByteQueue();
  let broken: KernelError | undefined;
  let outgoing: Uint8Array[] = [];
  let outgoingBytes = 0;

  socket.write(PREFACE);
  socket.on("data", receive);
  socket.on("error", () => undefined);
  socket.on("close", () => breakOff(unreachable("the kernel closed the connection; is it still running?")));

  function receive(chunk: Buffer): void {
    queue.push(chunk);
    while (queue.length >= FRAME_HEADER_BYTES) {
      const length = queue.peekUint32();
      if (length > MAX_FRAME_BYTES) return breakOff(unreachable("the answer is no frame; is this a kernel's socket?"));
      if (queue.length < FRAME_HEADER_BYTES + length) return;
      queue.drop(FRAME_HEADER_BYTES);
      settle(queue.take(length));
      if (broken !== undefined) return;
    }
  }

  function settle(body: Uint8Array): void {
    let response: ToolResponse;
    try {
      response = decodeResponse(body);
    } catch (cause) {
      return breakOff(new KernelError("INTERNAL", "the kernel's answer cannot be read", { cause }));
    }
    const waiting = pending.get(response.requestId);
    if (waiting !== undefined) {
      pending.delete(response.requestId);
      waiting.resolve(response);
    } else if (response.requestId === "" && response.result.case === "error") {
      const { message, violations } = response.result.value;
      breakOff(new KernelError("INVALID_REQUEST", message, { violations }));
    }
  }

  function breakOff(error: KernelError): void {
    broken ??= error;
    socket.destroy();
    for (const waiting of pending.values()) waiting.reject(broken);
    pending.clear();
  }

  function send(request: ToolRequest): void {
    const body = encode(request);
    outgoingBytes += body.length;
    if (outgoing.push(body) === 1) process.nextTick(flush);
  }

  function flush(): void {
    const bodies = outgoing;
    const bytes = outgoingBytes;
    outgoing = [];
    outgoingBytes = 0;
    if (broken === undefined) socket.write(joinFrames(bodies, bytes));
  }

  function cancel(request: ToolRequest): void {
    if (broken !== undefined) return;
    const requestId = `cancel-${crypto.randomUUID()}`;
    const tool = { case: "cancel", value: { requestId: request.requestId } } as const;
    pending.set(requestId, { resolve: () => undefined, reject: () => undefined });
    send(create(ToolRequestSchema, { requestId, sessionToken: request.sessionToken, tool }));
  }

  return {
    call(request, { signal } = {}) {
      if (broken !== undefined) return Promise.reject(broken);
      if (signal?.aborted)
        return Promise.reject(new KernelError("CANCELLED", "the call was cancelled before it began"));
      if (pending.has(request.requestId)) {
        return Promise.reject(new KernelError("DUPLICATE_REQUEST_ID", "a call with this request id is running"));
      }
      const answer = new Promise<ToolResponse>((resolve, reject) => {
        pending.set(request.requestId, { resolve, reject });
        send(request);
      });
      if (signal === undefined) return answer;
      const onAbort = (): void => cancel(request);
      signal.addEventListener("abort", onAbort, { once: true });
      return answer.finally(() => signal.removeEventListener("abort", onAbort));
    },
    close() {
      const closed = socket.closed ? Promise.resolve() : new Promise<void>((resolve) => socket.once("close", resolve));
      breakOff(unreachable("the connection was closed"));
      return closed;
    },
  };
}

/** A kernel that is flooded with connections fails with EAGAIN; then a retry helps. */
async function openSocket(path: string): Promise<Socket> {
  for (let delayMs = 1; ; delayMs *= 2) {
    try {
      return await connectOnce(path);
    } catch (cause) {
      const isBusy = cause instanceof Error && "code" in cause && cause.code === "EAGAIN";
      if (!isBusy || delayMs > MAX_CONNECT_DELAY_MS) {
        throw unreachable(`no kernel answers on \`${path}\`; start one`, cause);
      }
      await new Promise((resolve) => setTimeout(resolve, delayMs));
    }
  }
}

function connectOnce(path: string): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect(path);
    socket.once("error", reject);
    socket.once("connect", () => {
      socket.off("error", reject);
      resolve(socket);
    });
  });
}

function unreachable(message: string, cause?: unknown): KernelError {
  return new KernelError("KERNEL_UNREACHABLE", message, { cause });
}
