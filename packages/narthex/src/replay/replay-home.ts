import { loadConfiguration, openContentFiles, openHome, openSqliteStore, openWorkshop } from "@narthex/host";
import type { Replay, ReplayAsked, ReplayEvent } from "@narthex/server";
import { type ConnectionRequest, reachKernel, tryServicesConnection } from "../connection/open-connection.ts";
import { requireLedger, unreadableLedger } from "../connection/verify-home.ts";
import { homeTools } from "../home-tools.ts";
import { openHomeGate } from "../open-home-gate.ts";
import { createStoreReplay } from "./replay-store.ts";

interface Replayable {
  readonly replay: Replay;
  close(): Promise<void>;
}

/**
 * Replays sessions of a home: by the kernel that holds it, else here, on the store alone. No kernel is started for it, so
 * nothing is written.
 */
export async function* replayHome(request: ConnectionRequest, asked: ReplayAsked): AsyncGenerator<ReplayEvent> {
  const ledger = await reachKernel<Replayable, Replayable>(request, {
    tryRemote: tryServicesConnection,
    openLocal: (path, waitMs) => openStoreAlone(path, waitMs, request.environment),
  });
  try {
    yield* ledger.replay(asked, request.signal);
  } finally {
    await ledger.close();
  }
}

async function openStoreAlone(path: string, waitMs: number, environment: NodeJS.ProcessEnv): Promise<Replayable> {
  await requireLedger(path);
  const home = await openHome({ path, command: "replay", waitMs });
  try {
    const configuration = await loadConfiguration(home.paths.configuration);
    const store = await openSqliteStore({ directory: home.paths.store }).catch((cause: unknown) => {
      throw unreadableLedger(path, cause);
    });
    const contentStore = await openContentFiles(home.paths.content);
    const workshop = openWorkshop({ paths: home.paths });
    const gate = await openHomeGate(configuration, environment);
    const { tools } = await homeTools(home, configuration, { environment });
    const { redactors } = gate;
    return {
      replay: createStoreReplay({ store, contentStore, tools, redactors, programs: workshop.programs }),
      async close() {
        await Promise.all([workshop.close(), gate.gate.close()]);
        await store.close().catch(() => undefined);
        await home.close();
      },
    };
  } catch (error) {
    await home.close();
    throw error;
  }
}
