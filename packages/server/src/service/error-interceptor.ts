import type { Interceptor } from "@connectrpc/connect";
import { isKernelError } from "@narthex/contracts";
import type { Logger } from "@narthex/kernel";
import { toConnectError } from "./connect-error.ts";

/**
 * Converts kernel errors to transport errors, and logs unexpected ones. A client that disconnects while the kernel
 * writes to it is expected: the ledger records how its calls ended.
 */
export function createErrorInterceptor(log: Logger | undefined): Interceptor {
  const translate = (fault: unknown, method: string, signal: AbortSignal): unknown => {
    const error = toConnectError(fault);
    const { cause } = error;
    if (cause !== undefined && !isKernelError(cause) && !signal.aborted) {
      log?.("error", "a door's handler failed", { method, error: cause instanceof Error ? cause.message : "unknown" });
    }
    return error;
  };
  return (next) => async (request) => {
    try {
      const response = await next(request);
      if (!response.stream) return response;
      const ofStream = (fault: unknown): unknown => translate(fault, request.method.name, request.signal);
      return { ...response, message: translated(response.message, ofStream) };
    } catch (fault) {
      throw translate(fault, request.method.name, request.signal);
    }
  };
}

async function* translated<T>(messages: AsyncIterable<T>, translate: (fault: unknown) => unknown): AsyncGenerator<T> {
  try {
    yield* messages;
  } catch (fault) {
    throw translate(fault);
  }
}
