import { mkdir, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type Kernel, startKernel } from "@narthex/kernel";
import { createMemoryContentStore, createTestClock, createTestRandom, permitAll } from "@narthex/testkit";
import { openSqliteStore } from "../../store/sqlite-store.ts";
import { createMerklePublication } from "../merkle-publication.ts";
import { openSigningKeys } from "../signing-keys.ts";

/** A ledger on disk and its Merkle tree, without the rest of a home. */
export interface SignedHome {
  readonly directory: string;
  readonly merkle: string;
  readonly keys: string;
  readonly store: string;
  /** Runs a kernel on it and closes the kernel. */
  run<T>(use: (kernel: Kernel) => Promise<T>): Promise<T>;
  remove(): Promise<void>;
}

/** If brief, no threads are started; the written files are the same. */
export async function createSignedHome({ isBrief = true } = {}): Promise<SignedHome> {
  return openSignedHome(await mkdtemp(join(tmpdir(), "narthex-log-")), { isBrief });
}

export async function openSignedHome(directory: string, { isBrief = true } = {}): Promise<SignedHome> {
  const keys = join(directory, "keys");
  const log = join(directory, "log");
  const store = join(directory, "store");
  await mkdir(keys, { mode: 0o700, recursive: true });
  let runs = 0;
  return {
    directory,
    merkle: log,
    keys,
    store,
    async run(use) {
      const opened = await openSqliteStore({ directory: store, isSingleThreaded: isBrief });
      const kernel = await startKernel({
        store: opened,
        contentStore: createMemoryContentStore(),
        clock: createTestClock(),
        random: createTestRandom(`run ${process.pid} ${++runs}`),
        policy: permitAll([]),
        tools: [],
        version: "test",
        merkle: { tree: opened.tree, keys: openSigningKeys(keys), publication: createMerklePublication(log) },
      });
      try {
        return await use(kernel);
      } finally {
        await kernel.close({ graceMs: 0 });
      }
    },
    remove: () => rm(directory, { recursive: true, force: true }),
  };
}

/** Adds this number of records, and one or two more. */
export async function addRecords(kernel: Kernel, count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, () => kernel.openSession({ workspace: "/workspace" })));
}
