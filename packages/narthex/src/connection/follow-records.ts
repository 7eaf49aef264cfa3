import { setTimeout as sleep } from "node:timers/promises";
import type { LedgerRecord } from "@narthex/contracts";
import type { KernelConnection, TailQuery } from "./kernel-connection.ts";
import { type ConnectionRequest, tryServicesConnection } from "./open-connection.ts";

export interface FollowQuery {
  /** Starts with new records if absent. */
  readonly fromIndex: number | undefined;
  readonly chain: string | undefined;
  /** Without `fromIndex`: number of earlier records to start with; `onNextIndex` reports where new records begin. */
  readonly lookbackRecords?: number;
  readonly onNextIndex?: (nextIndex: number) => void;
}

const POLL_MS = 250;

/**
 * Yields records as they become durable, until the signal aborts. Waits for a kernel if none runs, and resumes at the
 * next kernel where the previous one stopped.
 */
export async function* followRecords(request: ConnectionRequest, query: FollowQuery): AsyncGenerator<LedgerRecord> {
  const { home, signal, terminal } = request;
  let fromIndex = query.fromIndex;
  let told = false;
  while (!signal.aborted) {
    const kernel = await tryServicesConnection(home);
    if (kernel === undefined) {
      if (!told) terminal.note(`no kernel holds ${home}; waiting for one (start it with \`narthex serve\`)`);
      told = true;
      await pause(signal);
      continue;
    }
    told = false;
    try {
      fromIndex ??= await startIndex(kernel, query);
      for await (const record of tailUntilGone(kernel, { chain: query.chain, fromIndex, signal })) {
        fromIndex = Number(record.index) + 1;
        yield record;
      }
    } finally {
      await kernel.close();
    }
    await pause(signal);
  }
}

/** Returns an index in the ledger rather than "now", so that no later record is missed if the connection breaks. */
async function startIndex(
  kernel: KernelConnection,
  { lookbackRecords = 0, onNextIndex }: FollowQuery,
): Promise<number> {
  const [newest] = await kernel.listRecords({ fromIndex: undefined, limit: 1, chain: undefined });
  const nextIndex = newest === undefined ? 0 : Number(newest.index) + 1;
  onNextIndex?.(nextIndex);
  return Math.max(0, nextIndex - lookbackRecords);
}

/** Ends without an error when the kernel stops or the caller aborts. */
async function* tailUntilGone(kernel: KernelConnection, query: TailQuery): AsyncGenerator<LedgerRecord> {
  try {
    yield* kernel.tailRecords(query);
  } catch (error) {
    if (query.signal.aborted || isKernelGone(error)) return;
    throw error;
  }
}

function isKernelGone(error: unknown): boolean {
  return (
    error instanceof Error && "code" in error && (error.code === "KERNEL_UNREACHABLE" || error.code === "CANCELLED")
  );
}

async function pause(signal: AbortSignal): Promise<void> {
  await sleep(POLL_MS, undefined, { signal }).catch(() => undefined);
}
