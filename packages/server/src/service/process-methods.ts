import { Code, ConnectError, type HandlerContext, type ServiceImpl } from "@connectrpc/connect";
import { type AdminService, KernelError } from "@narthex/contracts";
import type { SessionAttendance } from "./session-attendance.ts";

/** The process behind the doors, as its clients may know it. */
export interface KernelProcess {
  readonly version: string;
  /** The command that holds the home. */
  readonly command: string;
  readonly startedAtMs: number;
  /** MCP clients may be asked for approvals. */
  readonly elicitation: boolean;
  /** Ends the process in good order; absent where only the person who started it may do that. */
  readonly stop?: ((reason: string) => void) | undefined;
}

export interface ProcessMethodsOptions {
  readonly attendance: SessionAttendance;
  readonly process: KernelProcess | undefined;
  connections(): number;
  readonly stopping: AbortSignal;
}

type ProcessMethods = Pick<ServiceImpl<typeof AdminService>, "attendSession" | "getKernel" | "stopKernel">;

const MAX_REASON_CHARACTERS = 256;

export function createProcessMethods({
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
        await eitherAborts(context.signal, stopping);
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

function eitherAborts(first: HandlerContext["signal"], second: AbortSignal): Promise<void> {
  const either = AbortSignal.any([first, second]);
  if (either.aborted) return Promise.resolve();
  return new Promise((resolve) => either.addEventListener("abort", () => resolve(), { once: true }));
}

function shuttingDown(): ConnectError {
  return new ConnectError("the kernel is shutting down", Code.Unavailable);
}
