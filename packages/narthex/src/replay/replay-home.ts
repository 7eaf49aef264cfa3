import type { ReplaySelection, ReplayEvent } from "@narthex/server";
import { type ConnectionRequest, reachKernel, tryServicesConnection } from "../connection/open-connection.ts";
import { openOfflineStore, type OfflineStore } from "../connection/offline-store.ts";

/**
 * Replays sessions of a home: through the kernel that holds it, else in this process, on the store alone. Starts no
 * kernel, so nothing is written.
 */
export async function* replayHome(request: ConnectionRequest, selection: ReplaySelection): AsyncGenerator<ReplayEvent> {
  const { environment, signal } = request;
  const ledger = await reachKernel<OfflineStore, OfflineStore>(request, {
    tryRemote: tryServicesConnection,
    openLocal: (path, waitMs) => openOfflineStore(path, { command: "replay", waitMs, environment }),
  });
  try {
    yield* ledger.replay(selection, signal);
  } finally {
    await ledger.close();
  }
}
