import { create } from "@narthex/contracts";
import {
  Health,
  HealthCheckRequestSchema,
  HealthCheckResponse_ServingStatus as Status,
} from "@narthex/contracts/health";
import { isNotListening } from "./connection-error.ts";
import { createServicesClient } from "./services-client.ts";

/**
 * Takes calls; takes none, because it stops or nobody is there; said nothing in time. Unknown where the question could
 * not be put.
 */
export type KernelCondition = "serving" | "going" | "silent" | "unknown";

export interface KernelHealth {
  check(withinMs: number): Promise<KernelCondition>;
  close(): void;
}

/** How the kernel behind a services socket is, as it says to anyone. */
export function createKernelHealth(socketPath: string): KernelHealth {
  const client = createServicesClient(socketPath);
  return {
    async check(withinMs) {
      const signal = AbortSignal.timeout(withinMs);
      try {
        const request = create(HealthCheckRequestSchema);
        const { status } = await client.unary(Health.method.check, request, { token: "", signal });
        return status === Status.SERVING ? "serving" : "going";
      } catch (error) {
        if (signal.aborted) return "silent";
        // A door that closes still answers on the connections it has, and refuses.
        return isNotListening(error) || isRefusal(error) ? "going" : "unknown";
      }
    },
    close: () => client.close(),
  };
}

/** The kernel said so itself: no fault of the connection is behind it. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && error.cause === undefined;
}
