import { isKernelError, KernelError, parseToken, type ToolResponse } from "@narthex/contracts";
import type { Kernel } from "@narthex/kernel";
import type { ByteBudget } from "../byte-budget.ts";
import { deniedSession } from "../refused-response.ts";
import { parseRequestHead } from "../request-head.ts";
import type { BodySource } from "./body-source.ts";
import { HEAD_BYTES, TOKEN_FIRST_ABOVE_BYTES, UNCHECKED_BYTES } from "./service-limits.ts";

export interface MessageContext {
  readonly kernel: Kernel;
  /** Name of the door in the ledger. */
  readonly door: string;
  /** Budget of all requests and responses in flight. */
  readonly budget: ByteBudget;
  /** Budget of unfinished messages without a known token. */
  readonly strangers: ByteBudget;
  readonly signal: AbortSignal;
  readonly isJson: boolean;
  readonly maxBytes: number;
  readonly idleTimeoutMs: number;
}

/** One complete message; its bytes count as in flight until `release`. */
export interface BufferedMessage {
  readonly bytes: Uint8Array;
  release(): void;
}

/** The message's token does not belong to an open session. Holds the response; the rest of the message was not read. */
export class SessionDenied extends Error {
  override readonly name = "SessionDenied";
  readonly response: ToolResponse;

  constructor(response: ToolResponse) {
    super("the session is not open");
    this.response = response;
  }
}

/** Reads one message: `length` bytes, or everything to the end of the body if the length is unknown. */
export async function bufferMessage(
  source: BodySource,
  length: number | undefined,
  gathering: MessageContext,
): Promise<BufferedMessage> {
  if (length !== undefined && length > gathering.maxBytes) throw tooLarge(gathering.maxBytes);
  const main = createReservation(gathering.budget);
  const unchecked = createReservation(gathering.strangers);
  try {
    let isKnown: boolean | undefined;
    let target: Uint8Array | undefined;
    let filled = 0;
    for (;;) {
      if (target !== undefined) filled += source.queue.moveTo(target, filled);
      const here = filled + source.queue.length;
      if (length !== undefined && here >= length) break;
      if (length === undefined && here > gathering.maxBytes) throw tooLarge(gathering.maxBytes);
      if (here > UNCHECKED_BYTES) {
        isKnown ??= await isKnownSession(source, length, gathering);
        if (isKnown) {
          await main.growTo(length ?? here, gathering.signal);
          // Safe without zeroing: every byte is written before the message is used.
          if (target === undefined && length !== undefined) target = Buffer.allocUnsafeSlow(length);
          if (target !== undefined && filled === 0) continue;
        } else {
          // SECURITY: unauthenticated messages share one small pool, which known sessions never need.
          if (!unchecked.tryGrowTo(here - UNCHECKED_BYTES)) {
            throw new KernelError("RATE_LIMITED", "too many unfinished requests; start this one with its token");
          }
        }
      }
      if (await source.more({ timeoutMs: gathering.idleTimeoutMs })) continue;
      if (length === undefined) break;
      throw new KernelError("INVALID_REQUEST", "the body ended inside a message");
    }
    const size = length ?? source.queue.length;
    await main.growTo(size, gathering.signal);
    return { bytes: target ?? source.queue.take(size), release: main.release };
  } catch (fault) {
    main.release();
    throw fault;
  } finally {
    unchecked.release();
  }
}

/** SECURITY: only a valid token at the front of a large message makes the kernel buffer it. */
async function isKnownSession(
  source: BodySource,
  length: number | undefined,
  gathering: MessageContext,
): Promise<boolean> {
  const head = source.queue.peek(Math.min(HEAD_BYTES, source.queue.length));
  const { requestId, sessionToken: token } = gathering.isJson ? readTokenHint(head) : parseRequestHead(head);
  if (token === "") {
    if (gathering.isJson || (length ?? 0) <= TOKEN_FIRST_ABOVE_BYTES) return false;
    throw new KernelError("INVALID_REQUEST", "a request above 1 MB starts with request_id and session_token");
  }
  try {
    await gathering.kernel.authenticate(token);
    return true;
  } catch (fault) {
    if (!isKernelError(fault)) throw fault;
    gathering.kernel.refuse({ door: gathering.door, reason: fault.code, bytes: head });
    throw new SessionDenied(deniedSession(fault, requestId));
  }
}

/**
 * Finds text that looks like the token. It only determines how much the client may send; the kernel authenticates the
 * call itself.
 */
function readTokenHint(head: Uint8Array): { readonly requestId: string; readonly sessionToken: string } {
  const text = Buffer.from(head.buffer, head.byteOffset, head.byteLength).toString("latin1");
  const token = /"session_?[tT]oken"\s{0,8}:\s{0,8}"([A-Za-z0-9_-]{1,256})"/.exec(text)?.[1] ?? "";
  const requestId = /"request_?[iI]d"\s{0,8}:\s{0,8}"([\w.:-]{1,256})"/.exec(text)?.[1] ?? "";
  return { requestId, sessionToken: parseToken(token) === undefined ? "" : token };
}

/** Bytes acquired from a budget, released together. */
function createReservation(budget: ByteBudget) {
  let held = 0;
  const holding = {
    tryGrowTo(bytes: number): boolean {
      if (bytes > held) {
        if (!budget.tryAcquire(bytes - held)) return false;
        held = bytes;
      }
      return true;
    },
    async growTo(bytes: number, signal: AbortSignal): Promise<void> {
      if (holding.tryGrowTo(bytes)) return;
      await acquireBytes(budget, bytes - held, signal);
      held = bytes;
    },
    release(): void {
      budget.release(held);
      held = 0;
    },
  };
  return holding;
}

function acquireBytes(budget: ByteBudget, bytes: number, signal: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    const gone = (): void => {
      stop();
      reject(new KernelError("CANCELLED", "the caller hung up"));
    };
    const stop = budget.acquire(bytes, () => {
      signal.removeEventListener("abort", gone);
      resolve();
    });
    if (signal.aborted) gone();
    else signal.addEventListener("abort", gone, { once: true });
  });
}

function tooLarge(maxBytes: number): KernelError {
  return new KernelError("INVALID_REQUEST", `a request has at most ${maxBytes} bytes in this form`);
}
