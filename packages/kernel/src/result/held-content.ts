import { toHex } from "@narthex/contracts";
import { joinLabels } from "../label/join-labels.ts";

/** Content that is recorded by its hash only, kept in memory while there is room and the kernel runs. */
export interface HeldContent {
  /** Keeps the bytes and lets the session name them; an item above the maximum size is not kept. */
  add(sessionId: string, digest: Uint8Array, bytes: Uint8Array, labels: readonly string[]): void;
  find(digest: Uint8Array): HeldItem | undefined;
  clear(): void;
}

export interface HeldItem {
  readonly bytes: Uint8Array;
  /** Sessions that may name the content, with its labels for each. */
  readonly holders: ReadonlyMap<string, readonly string[]>;
}

export const MAX_HELD_ITEM_BYTES = 16 * 1024 * 1024;
const MAX_HELD_BYTES = 64 * 1024 * 1024;

export function createHeldContent(): HeldContent {
  const items = new Map<string, { bytes: Uint8Array; holders: Map<string, readonly string[]> }>();
  let total = 0;
  return {
    add(sessionId, digest, bytes, labels) {
      if (bytes.length > MAX_HELD_ITEM_BYTES) return;
      const key = toHex(digest);
      const known = items.get(key) ?? { bytes, holders: new Map<string, readonly string[]>() };
      if (!items.has(key)) total += bytes.length;
      known.holders.set(sessionId, joinLabels(known.holders.get(sessionId) ?? [], labels));
      // Keeps the newest item last.
      items.delete(key);
      items.set(key, known);
      for (const [oldest, { bytes: gone }] of items) {
        if (total <= MAX_HELD_BYTES) break;
        items.delete(oldest);
        total -= gone.length;
      }
    },
    find: (digest) => items.get(toHex(digest)),
    clear() {
      items.clear();
      total = 0;
    },
  };
}
