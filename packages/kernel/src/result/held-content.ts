import { toHex } from "@narthex/contracts";
import { joinLabels } from "../label/join-labels.ts";

/** Content that is recorded by its hash only, in memory for as long as there is room and the kernel runs. */
export interface HeldContent {
  /** Gives a session the right to name it; more than one item may hold is not kept. */
  add(sessionId: string, digest: Uint8Array, bytes: Uint8Array, labels: readonly string[]): void;
  find(digest: Uint8Array): HeldItem | undefined;
  clear(): void;
}

export interface HeldItem {
  readonly bytes: Uint8Array;
  /** Sessions that may name it, with the labels it has for them. */
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
      // The newest last.
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
