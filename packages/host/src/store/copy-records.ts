import { once } from "node:events";
import { closeSync, fsyncSync, openSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { KernelError } from "@narthex/contracts";
import { openRecordsForReading } from "./store-files.ts";
import { threadUrl } from "./thread-url.ts";

/**
 * Copies records and state as they are at one moment into a new file, durable when it returns. Whoever writes goes on
 * meanwhile. What was erased before is in none of its pages: they are written anew from what is there.
 */
export function copyRecords(directory: string, target: string): void {
  // SQLite would make it readable to others.
  closeSync(openSync(target, "wx", 0o600));
  const records = openRecordsForReading(directory);
  try {
    // To write elsewhere is no change of this file, but the connection must be allowed to write at all.
    records.exec("PRAGMA query_only = OFF");
    records.prepare("VACUUM INTO ?").run(target);
  } finally {
    records.close();
  }
  const copy = openSync(target, "r");
  fsyncSync(copy);
  closeSync(copy);
}

/** The same in a thread of its own. */
export async function copyRecordsInThread(directory: string, target: string): Promise<void> {
  const worker = new Worker(threadUrl("copy-thread", import.meta.url), {
    workerData: { directory, target },
    execArgv: [],
  });
  try {
    // Rejects with what the thread throws.
    await once(worker, "exit");
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new KernelError("STORE_UNAVAILABLE", `the records could not be copied: ${reason}`, { cause });
  }
}
