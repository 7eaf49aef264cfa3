import { DatabaseSync } from "node:sqlite";
import { RESTORED_KEY } from "@narthex/kernel";
import { tableNumber } from "./packed-group.ts";

/** Has the first kernel that starts on these records end what was under way in the kernel that they are a copy of. */
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
