import {
  type SandboxedPrograms,
  type ContentStore,
  createStoreReplaySource,
  listRecordedSessions,
  type Store,
} from "@narthex/kernel";
import type { Replay } from "@narthex/server";
import { verifySource } from "../connection/verify-report.ts";
import { createStoreLedgerSource } from "../ledger-source.ts";
import { replayLedger } from "./replay-ledger.ts";
import { createReplayPorts, type ReplayPortsOptions } from "./replay-ports.ts";
import { withEmptyDirectory } from "./with-empty-directory.ts";

export interface StoreReplayOptions extends Pick<ReplayPortsOptions, "tools" | "redactors" | "wasm"> {
  readonly store: Store;
  readonly contentStore: ContentStore;
  /** Directory of the Merkle tree files. */
  readonly merkleDirectory: string;
  readonly programs: SandboxedPrograms;
}

/** Replays the records of an open store. */
export function createStoreReplay(parts: StoreReplayOptions): Replay {
  const { store, contentStore, merkleDirectory, tools, redactors, programs: driver, wasm } = parts;
  return (asked, signal) =>
    withEmptyDirectory((emptyDirectory) =>
      replayLedger(
        {
          source: createStoreReplaySource(store, contentStore),
          ports: createReplayPorts({ tools, redactors, programs: { driver, emptyDirectory }, wasm }),
          listSessions: () => listRecordedSessions(store),
          verify: (options) => verifySource(createStoreLedgerSource(store, contentStore, merkleDirectory), options),
        },
        asked,
        signal,
      ),
    );
}
