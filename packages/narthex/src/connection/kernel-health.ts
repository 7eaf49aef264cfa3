import { create } from "@narthex/contracts";
import {
  Health,
  HealthCheckRequestSchema,
  HealthCheckResponse_ServingStatus as Status,
} from "@narthex/contracts/health";
import { isNotListening } from "./connection-error.ts";
import { createServicesClient } from "./services-client.ts";

/**
 * State of a kernel: `serving` takes calls; `going` takes none, because it is stopping or no process listens; `silent`
 * did not respond in time; `unknown` means that the check could not be made.
 */
export type KernelCondition = "serving" | "going" | "silent" | "unknown";

export interface KernelHealth {
  check(withinMs: number): Promise<KernelCondition>;
  close(): void;
}

/** Checks the health of the kernel behind a services socket; needs no token. */
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
        // A closing door still responds on existing connections, with a refusal.
        return isNotListening(error) || isRefusal(error) ? "going" : "unknown";
      }
    },
    close: () => client.close(),
  };
}

/** Whether the kernel itself sent the error, as opposed to a failed connection. */
function isRefusal(error: unknown): boolean {
  return error instanceof Error && error.cause === undefined;
}
