import type { Configuration, SocketPaths } from "@narthex/host";
import type { Kernel, Logger } from "@narthex/kernel";
import {
  type ExportLedger,
  type KernelProcess,
  type Replay,
  serve,
  type ServiceListen,
  type Serving,
  type SessionAttendance,
} from "@narthex/server";
import type { LedgerSource } from "@narthex/verify";
import { verifySource } from "./connection/verify-report.ts";
import type { OpenedKernel } from "./open-kernel.ts";
import { loginName } from "./terminal/login-name.ts";
import { VERSION } from "./version.ts";

export interface DoorOptions {
  readonly sockets: SocketPaths;
  /** In addition to the two sockets. */
  readonly services: readonly ServiceListen[];
  readonly limits: Configuration["limits"];
  readonly mcp: Configuration["mcp"];
  readonly approvalWaitMs: number;
  readonly authorizeToken: OpenedKernel["authorizeToken"];
  readonly ledgerSource: () => LedgerSource;
  readonly replay: Replay;
  readonly exportLedger: ExportLedger;
  readonly attendance: SessionAttendance;
  readonly holder: Pick<KernelProcess, "command" | "startedAtMs" | "stop">;
  readonly log: Logger | undefined;
}

/**
 * Opens the doors of a home together: they share one budget of bytes in flight. Approvals are decided through them,
 * too.
 */
export async function openDoors(kernel: Kernel, options: DoorOptions): Promise<Serving> {
  const doors = await openServing(kernel, options);
  const closeApprovals = kernel.openApprovalDoor();
  return {
    addresses: doors.addresses,
    connections: () => doors.connections(),
    close(closing) {
      closeApprovals();
      return doors.close(closing);
    },
  };
}

function openServing(kernel: Kernel, options: DoorOptions): Promise<Serving> {
  const { sockets, services, limits, mcp, approvalWaitMs, authorizeToken, ledgerSource, replay, exportLedger, log } =
    options;
  const { attendance, holder } = options;
  const elicitation = mcp.elicitation === "approvals";
  const { maxConnections, maxInFlightBytes } = limits;
  return serve(kernel, {
    framed: { path: sockets.framed, limits: { maxConnections } },
    services: [{ path: sockets.services }, ...services],
    serviceLimits: { maxConnections },
    bytesInFlight: maxInFlightBytes,
    console: { version: VERSION, defaultApprover: loginName() },
    mcp: { version: VERSION, elicitation, toolSet: mcp.tools, approvalWaitMs },
    attendance,
    process: { ...holder, version: VERSION, elicitation },
    authorize: authorizeToken,
    verify: ({ verifierKey, checkpoints, remember, verified, recordsOnly }, onProgress, signal) =>
      kernel.withErasurePaused(() =>
        verifySource(ledgerSource(), {
          signal,
          verifierKey: verifierKey === "" ? undefined : verifierKey,
          checkpoints,
          remember,
          recordsOnly,
          before: verified.length === 0 ? undefined : verified,
          onProgress: (recordsDone, recordsTotal) => onProgress({ recordsDone, recordsTotal }),
        }),
      ),
    replay,
    exportLedger,
    ...(log && { log }),
  });
}
