import { once } from "node:events";
import { closeSync, fsyncSync, openSync } from "node:fs";
import { Worker } from "node:worker_threads";
import { KernelError } from "@narthex/contracts";
import { openRecordsForReading } from "./store-files.ts";
import { threadUrl } from "./thread-url.ts";

/**
 * Copies a consistent snapshot of records and state into a new file, durable when it returns. Writing can continue
 * meanwhile. The copy contains nothing that was erased: its pages are rewritten from the current content.
 */
export function copyRecords(directory: string, target: string): void {
  // Create it private first: SQLite would make it readable for others.
  closeSync(openSync(target, "wx", 0o600));
  const records = openRecordsForReading(directory);
  try {
    // The copy does not change this file, but `query_only` would forbid writing the new one.
    records.exec("PRAGMA query_only = OFF");
    records.prepare("VACUUM INTO ?").run(target);
  } finally {
    records.close();
  }
  const copy = openSync(target, "r");
  fsyncSync(copy);
  closeSync(copy);
}

/** As `copyRecords`, in a worker thread. */
export async function copyRecordsInThread(directory: string, target: string): Promise<void> {
  const worker = new Worker(threadUrl("copy-thread", import.meta.url), {
    workerData: { directory, target },
    execArgv: [],
  });
  try {
    // Rejects with any error that the thread throws.
    await once(worker, "exit");
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new KernelError("STORE_UNAVAILABLE", `the records could not be copied: ${reason}`, { cause });
  }
}
