import {
  type ContainedPrograms,
  type ContentStore,
  createStoreReplaySource,
  listRecordedSessions,
  type Store,
} from "@narthex/kernel";
import type { Replay } from "@narthex/server";
import { verifySource } from "../connection/verify-report.ts";
import { storeLedgerSource } from "../ledger-source.ts";
import { replayLedger } from "./replay-ledger.ts";
import { createReplayPorts, type ReplayPortsOptions } from "./replay-ports.ts";
import { withEmptyDirectory } from "./with-empty-directory.ts";

export interface ReplayStoreParts extends Pick<ReplayPortsOptions, "tools" | "redactors" | "wasm"> {
  readonly store: Store;
  readonly contentStore: ContentStore;
  /** Where the files of the Merkle log are. */
  readonly logDirectory: string;
  readonly programs: ContainedPrograms;
}

/** Replays what an open store has recorded. */
export function createStoreReplay(parts: ReplayStoreParts): Replay {
  const { store, contentStore, logDirectory, tools, redactors, programs: driver, wasm } = parts;
  return (asked, signal) =>
    withEmptyDirectory((emptyDirectory) =>
      replayLedger(
        {
          source: createStoreReplaySource(store, contentStore),
          ports: createReplayPorts({ tools, redactors, programs: { driver, emptyDirectory }, wasm }),
          listSessions: () => listRecordedSessions(store),
          verify: (options) => verifySource(storeLedgerSource(store, contentStore, logDirectory), options),
        },
        asked,
        signal,
      ),
    );
}
