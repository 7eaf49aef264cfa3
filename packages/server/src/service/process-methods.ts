import { Code, ConnectError, type ServiceImpl } from "@connectrpc/connect";
import { type AdminService, KernelError } from "@narthex/contracts";
import type { Kernel } from "@narthex/kernel";
import type { SessionAttendance } from "./session-attendance.ts";

/** The process behind the doors, as its clients may see it. */
export interface KernelProcess {
  readonly version: string;
  /** Command that holds the home. */
  readonly command: string;
  readonly startedAtMs: number;
  /** Whether MCP clients may be asked for approvals. */
  readonly elicitation: boolean;
  /** Ends the process gracefully; absent if only the user who started it may do that. */
  readonly stop?: ((reason: string) => void) | undefined;
}

export interface ProcessMethodsOptions {
  readonly kernel: Pick<Kernel, "onLeaseEnded">;
  readonly attendance: SessionAttendance;
  readonly process: KernelProcess | undefined;
  connections(): number;
  readonly stopping: AbortSignal;
}

type ProcessMethods = Pick<ServiceImpl<typeof AdminService>, "attendSession" | "getKernel" | "stopKernel">;

const MAX_REASON_CHARACTERS = 256;

export function createProcessMethods({
  kernel,
  attendance,
  process: kernelProcess,
  connections,
  stopping,
}: ProcessMethodsOptions): ProcessMethods {
  return {
    async *attendSession({ sessionId, path }, context) {
      if (stopping.aborted) throw shuttingDown();
      const attending = attendance.attend(sessionId, { path });
      try {
        yield {};
        for await (const _ of leaseEnds(sessionId, kernel, AbortSignal.any([context.signal, stopping]))) yield {};
      } finally {
        attending.leave();
      }
      throw shuttingDown();
    },
    getKernel() {
      return {
        pid: process.pid,
        version: kernelProcess?.version ?? "",
        command: kernelProcess?.command ?? "",
        startedAtMs: BigInt(kernelProcess?.startedAtMs ?? 0),
        onDemand: kernelProcess?.stop !== undefined,
        clients: attendance.size,
        connections: connections(),
        elicitation: kernelProcess?.elicitation ?? false,
      };
    },
    stopKernel({ reason }) {
      const stop = kernelProcess?.stop;
      if (stop === undefined) {
        const who =
          kernelProcess === undefined ? "this kernel" : `\`${kernelProcess.command}\` (process ${process.pid})`;
        throw new KernelError("HOME_BUSY", `${who} was not started on demand; end it where it was started`);
      }
      stop(reason.slice(0, MAX_REASON_CHARACTERS));
      return {};
    },
  };
}

/** Yields each time the session's lease was revoked or expired, until the signal aborts. */
async function* leaseEnds(
  sessionId: string,
  kernel: ProcessMethodsOptions["kernel"],
  signal: AbortSignal,
): AsyncGenerator<void> {
  let told = false;
  let wake: (() => void) | undefined;
  const stopListening = kernel.onLeaseEnded((ended) => {
    if (ended !== sessionId) return;
    told = true;
    wake?.();
  });
  signal.addEventListener("abort", () => wake?.(), { once: true });
  try {
    while (!signal.aborted) {
      if (!told) await new Promise<void>((resolve) => (wake = resolve));
      if (!told) continue;
      told = false;
      yield;
    }
  } finally {
    stopListening();
  }
}

function shuttingDown(): ConnectError {
  return new ConnectError("the kernel is shutting down", Code.Unavailable);
}
