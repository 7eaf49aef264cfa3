import { loadConfiguration, openContentFiles, openHome, openLedgerStore, openToolRuntime } from "@narthex/host";
import type { ExportLedger, Replay } from "@narthex/server";
import { createStoreExport } from "../bundle/store-export.ts";
import { loadHomeTools } from "../home-tools.ts";
import { openHomeGate } from "../open-home-gate.ts";
import { createStoreReplay } from "../replay/store-replay.ts";
import { requireLedger, unreadableLedger } from "./verify-home.ts";

/** Readers for a home that no process holds. */
export interface OfflineStore {
  readonly replay: Replay;
  readonly exportLedger: ExportLedger;
  close(): Promise<void>;
}

/** Opens a home's store without starting a kernel on it: nothing is written. Throws LEDGER_UNREADABLE. */
export async function openOfflineStore(
  path: string,
  { command, waitMs, environment }: { command: string; waitMs: number; environment: NodeJS.ProcessEnv },
): Promise<OfflineStore> {
  await requireLedger(path);
  const home = await openHome({ path, command, waitMs });
  try {
    const configuration = await loadConfiguration(home.paths.configuration);
    const store = await openLedgerStore({ paths: home.paths }).catch((cause: unknown) => {
      throw unreadableLedger(path, cause);
    });
    const contentStore = await openContentFiles(home.paths.content);
    const workshop = openToolRuntime({ paths: home.paths });
    const gate = await openHomeGate(configuration, environment);
    const { tools } = await loadHomeTools(home, configuration, { environment });
    const { redactors } = gate;
    const { programs, wasm } = workshop;
    return {
      replay: createStoreReplay({
        store,
        contentStore,
        merkleDirectory: home.paths.merkle,
        tools,
        redactors,
        programs,
        wasm,
      }),
      exportLedger: createStoreExport(store, contentStore, home.paths.merkle),
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
