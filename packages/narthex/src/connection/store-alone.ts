import { loadConfiguration, openContentFiles, openHome, openLedgerStore, openWorkshop } from "@narthex/host";
import type { ExportLedger, Replay } from "@narthex/server";
import { createStoreExport } from "../bundle/export-store.ts";
import { homeTools } from "../home-tools.ts";
import { openHomeGate } from "../open-home-gate.ts";
import { createStoreReplay } from "../replay/replay-store.ts";
import { requireLedger, unreadableLedger } from "./verify-home.ts";

/** What can be read from a home that nobody holds. */
export interface StoreAlone {
  readonly replay: Replay;
  readonly exportLedger: ExportLedger;
  close(): Promise<void>;
}

/** Opens a home's store without starting a kernel on it: nothing is written. Throws LEDGER_UNREADABLE. */
export async function openStoreAlone(
  path: string,
  { command, waitMs, environment }: { command: string; waitMs: number; environment: NodeJS.ProcessEnv },
): Promise<StoreAlone> {
  await requireLedger(path);
  const home = await openHome({ path, command, waitMs });
  try {
    const configuration = await loadConfiguration(home.paths.configuration);
    const store = await openLedgerStore({ paths: home.paths }).catch((cause: unknown) => {
      throw unreadableLedger(path, cause);
    });
    const contentStore = await openContentFiles(home.paths.content);
    const workshop = openWorkshop({ paths: home.paths });
    const gate = await openHomeGate(configuration, environment);
    const { tools } = await homeTools(home, configuration, { environment });
    const { redactors } = gate;
    const { programs, wasm } = workshop;
    return {
      replay: createStoreReplay({
        store,
        contentStore,
        logDirectory: home.paths.log,
        tools,
        redactors,
        programs,
        wasm,
      }),
      exportLedger: createStoreExport(store, contentStore, home.paths.log),
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
