import { DatabaseSync } from "node:sqlite";
import { RESTORED_KEY } from "@narthex/kernel";
import { tableNumber } from "./packed-group.ts";

/**
 * Marks a copy of records as restored, so that the first kernel that starts on it ends everything that was in progress
 * in the original kernel.
 */
export function markRestored(path: string, takenAtMs: number): void {
  const records = new DatabaseSync(path);
  try {
    records.exec("PRAGMA synchronous = FULL");
    records
      .prepare("INSERT OR REPLACE INTO state VALUES (?, ?, ?)")
      .run(tableNumber("meta"), RESTORED_KEY, Buffer.from(String(takenAtMs)));
  } finally {
    records.close();
  }
}
