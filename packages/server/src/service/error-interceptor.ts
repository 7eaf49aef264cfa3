import type { Interceptor } from "@connectrpc/connect";
import { isKernelError } from "@narthex/contracts";
import type { Log } from "@narthex/kernel";
import { toConnectError } from "./connect-error.ts";

/** Turns faults of the kernel into transport errors, and tells the operator about those nobody expected. */
export function createErrorInterceptor(log: Log | undefined): Interceptor {
  const translate = (fault: unknown, method: string): unknown => {
    const error = toConnectError(fault);
    const { cause } = error;
    if (cause !== undefined && !isKernelError(cause)) {
      log?.("error", "a door's handler failed", { method, error: cause instanceof Error ? cause.message : "unknown" });
    }
    return error;
  };
  return (next) => async (request) => {
    try {
      const response = await next(request);
      if (!response.stream) return response;
      return { ...response, message: translated(response.message, (fault) => translate(fault, request.method.name)) };
    } catch (fault) {
      throw translate(fault, request.method.name);
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
