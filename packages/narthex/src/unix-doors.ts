import type { SocketPaths } from "@narthex/host";
import type { Kernel, Log } from "@narthex/kernel";
import { type ServeOptions, type Serving, serve } from "@narthex/server";
import type { LedgerSource } from "@narthex/verify";
import { verifySource } from "./connection/verify-report.ts";
import type { OpenedKernel } from "./open-kernel.ts";

export interface UnixDoorOptions {
  readonly sockets: SocketPaths;
  readonly authorizeToken: OpenedKernel["authorizeToken"];
  readonly ledgerSource: () => LedgerSource;
  readonly log: Log | undefined;
}

/** The two sockets of a home: whoever holds it opens them. */
export function openUnixDoors(kernel: Kernel, options: UnixDoorOptions): Promise<Serving> {
  return serve(kernel, {
    framed: { path: options.sockets.framed },
    services: [{ path: options.sockets.services }],
    ...doorPowers(options),
  });
}

/** What every door of a home shares: who may administer, and how the ledger is read back. */
export function doorPowers(
  options: Omit<UnixDoorOptions, "sockets">,
): Pick<ServeOptions, "authorize" | "verify" | "log"> {
  return {
    authorize: options.authorizeToken,
    verify: (onProgress, signal) =>
      verifySource(options.ledgerSource(), {
        signal,
        onProgress: (recordsDone, recordsTotal) => onProgress({ recordsDone, recordsTotal }),
      }),
    ...(options.log && { log: options.log }),
  };
}
