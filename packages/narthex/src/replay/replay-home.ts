import type { ReplayAsked, ReplayEvent } from "@narthex/server";
import { type ConnectionRequest, reachKernel, tryServicesConnection } from "../connection/open-connection.ts";
import { openStoreAlone, type StoreAlone } from "../connection/store-alone.ts";

/**
 * Replays sessions of a home: by the kernel that holds it, else here, on the store alone. No kernel is started for it, so
 * nothing is written.
 */
export async function* replayHome(request: ConnectionRequest, asked: ReplayAsked): AsyncGenerator<ReplayEvent> {
  const { environment, signal } = request;
  const ledger = await reachKernel<StoreAlone, StoreAlone>(request, {
    tryRemote: tryServicesConnection,
    openLocal: (path, waitMs) => openStoreAlone(path, { command: "replay", waitMs, environment }),
  });
  try {
    yield* ledger.replay(asked, signal);
  } finally {
    await ledger.close();
  }
}
