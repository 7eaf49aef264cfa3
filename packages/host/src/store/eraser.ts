import type { DatabaseSync } from "node:sqlite";
import { eraseItems } from "./erase-items.ts";
import { tableNumber } from "./packed-group.ts";

type NoteState = (table: number, key: string, value: Uint8Array) => void;

/** Replaces items with tombstones in the same transaction as the record of the erasure. */
export interface Eraser {
  note(recordIndex: number, item: number): void;
  flush(): void;
}

const MARK = Buffer.of(1);

/**
 * INVARIANT: from that transaction on, an erased digest has a row until its file, its index rows and its remains in WAL
 * files are gone: after a crash in between, the next start does the rest.
 */
export function createEraser(database: DatabaseSync, noteState: NoteState): Eraser {
  const read = database.prepare("SELECT content FROM records WHERE idx = ?");
  const replace = database.prepare("UPDATE records SET content = ? WHERE idx = ?");
  const erasing = tableNumber("erasing");
  const noted = new Map<number, Set<number>>();
  return {
    note(recordIndex, item) {
      const known = noted.get(recordIndex);
      if (known === undefined) noted.set(recordIndex, new Set([item]));
      else known.add(item);
    },
    flush() {
      if (noted.size === 0) return;
      for (const [recordIndex, items] of noted) {
        const content = read.get(recordIndex)?.["content"];
        if (!(content instanceof Uint8Array)) throw new RangeError(`record ${recordIndex} has no content to erase`);
        const { content: left, erased } = eraseItems(content, items);
        replace.run(left, recordIndex);
        for (const { digest } of erased) noteState(erasing, Buffer.from(digest, "latin1").toString("hex"), MARK);
      }
      noted.clear();
    },
  };
}
