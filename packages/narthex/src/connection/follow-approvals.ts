import { setTimeout as sleep } from "node:timers/promises";
import { fromBinary, type LedgerRecord, RecordSchema } from "@narthex/contracts";
import type { KernelConnection, ListedApprovals } from "./kernel-connection.ts";
import { type ConnectionRequest, tryServicesConnection } from "./open-connection.ts";

const POLL_MS = 250;

/**
 * Yields the pending approvals, and again after each change, until the signal aborts. Waits for a kernel if none runs.
 */
export async function* followApprovals(
  request: ConnectionRequest,
): AsyncGenerator<ListedApprovals & { readonly kernel: KernelConnection }> {
  const { home, signal, terminal } = request;
  let isTold = false;
  while (!signal.aborted) {
    const kernel = await tryServicesConnection(home);
    if (kernel === undefined) {
      if (!isTold) terminal.note(`no kernel holds ${home}; waiting for one (start it with \`narthex serve\`)`);
      isTold = true;
    } else {
      isTold = false;
      try {
        yield* followKernelApprovals(kernel, signal);
      } catch (error) {
        if (!signal.aborted && !isKernelGone(error)) throw error;
      } finally {
        await kernel.close();
      }
    }
    await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
  }
}

/**
 * Yields the approvals of one kernel. Every approval request and every decision is recorded, so new records in the
 * ledger trigger a refresh.
 */
export async function* followKernelApprovals(kernel: KernelConnection, signal: AbortSignal) {
  const [newest] = await kernel.listRecords({ fromIndex: undefined, limit: 1, chain: undefined });
  const fromIndex = newest === undefined ? 0 : Number(newest.index) + 1;
  yield { ...(await kernel.listApprovals()), kernel };
  for await (const record of kernel.tailRecords({ fromIndex, chain: undefined, signal })) {
    if (concernsApprovals(record)) yield { ...(await kernel.listApprovals()), kernel };
  }
}

const CHANGES: ReadonlySet<string> = new Set([
  "approvalRequested",
  "approvalResolved",
  "approvalDeclined",
  "standingApprovalRevoked",
]);

function concernsApprovals({ record }: LedgerRecord): boolean {
  return fromBinary(RecordSchema, record).entries.some(({ kind }) => {
    return kind.case !== undefined && CHANGES.has(kind.case);
  });
}

function isKernelGone(error: unknown): boolean {
  return (
    error instanceof Error && "code" in error && (error.code === "KERNEL_UNREACHABLE" || error.code === "CANCELLED")
  );
}
