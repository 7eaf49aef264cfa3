import { createHash } from "node:crypto";
import { existsSync } from "node:fs";
import { mkdir, readdir, readFile, rm } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { callFor } from "../../harness/call-for.ts";
import { type Bench, NotMeasured } from "../../harness/measurement.ts";
import { type Embedded, openEmbedded } from "../../harness/open-embedded.ts";
import { REPOSITORY } from "../../harness/places.ts";

/** Calls are made in slices, each in a session of its own, until there are enough or the time is over. */
const SLICE_MS = 5000;
const IN_FLIGHT = 64;
/** A ledger that many runs have added to is made anew: it would be another one. */
const MOST_TIMES_WANTED = 1.5;
/** What the measurement itself needs of the family's time. */
const RESERVED_MS = 45_000;

/**
 * A home whose ledger has at least so many records, all of them real calls through a whole kernel, and a new session on
 * it. Made once and kept: a run that has no time to finish it leaves the rest to the next.
 */
export async function openLongLedger(bench: Bench, records: number): Promise<Embedded> {
  const directory = join(bench.cache, `ledger-${records}-${await formatKey(bench.directory)}`);
  await mkdir(directory, { recursive: true });
  let embedded = await openOrRenew(directory, records);
  while (embedded.kernel.recordCount() < records) {
    if (Date.now() + SLICE_MS > bench.deadlineMs - RESERVED_MS) {
      const count = embedded.kernel.recordCount().toLocaleString("en-US");
      await embedded.close();
      throw new NotMeasured(`the ledger has ${count} of its records so far; run it again to go on`);
    }
    await callFor({ milliseconds: SLICE_MS, inFlight: IN_FLIGHT, call: (n) => embedded.call(n) });
    if (embedded.kernel.recordCount() >= records) break;
    await embedded.close();
    embedded = await openEmbedded(directory);
  }
  await embedded.close();
  return openEmbedded(directory);
}

async function openOrRenew(directory: string, records: number): Promise<Embedded> {
  if (existsSync(join(directory, "home"))) {
    const found = await openEmbedded(directory).catch(() => undefined);
    if (found !== undefined && found.kernel.recordCount() <= records * MOST_TIMES_WANTED) return found;
    await found?.close();
    await rm(directory, { recursive: true, force: true });
    await mkdir(directory, { recursive: true });
  }
  return openEmbedded(directory);
}

/** Stands for the layout that this code writes, as a new home shows it: an older ledger is not taken for one of ours. */
async function formatKey(directory: string): Promise<string> {
  const sample = await openEmbedded(directory, "sample");
  await sample.call(0);
  const store = sample.kernel.home.paths.store;
  await sample.close();
  const hash = createHash("sha256").update(await readFile(join(REPOSITORY, "proto/narthex/v1/ledger.proto")));
  for (const name of (await readdir(store)).filter((file) => file.endsWith(".db")).sort()) {
    const database = new DatabaseSync(join(store, name), { readOnly: true });
    for (const question of ["PRAGMA user_version", "PRAGMA page_size", "SELECT sql FROM sqlite_master ORDER BY name"]) {
      hash.update(JSON.stringify(database.prepare(question).all()));
    }
    database.close();
  }
  return hash.digest("hex").slice(0, 12);
}
