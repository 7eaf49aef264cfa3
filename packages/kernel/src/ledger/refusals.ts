import { blake3 } from "@narthex/contracts";
import type { Refusal } from "../kernel.ts";
import type { Ledger } from "./ledger.ts";
import { type EntryDraft, SYSTEM_CHAIN } from "./record-draft.ts";

/** Requests that reached no session, gathered so that a stranger cannot fill the disk. */
export interface Refusals {
  count(refusal: Refusal): void;
  /** Writes what has gathered. */
  flush(): Promise<void>;
  /** Writes what has gathered and stops the timer. */
  close(): Promise<void>;
}

const WINDOW_MS = 1000;
/** Doors and reasons come from closed sets; this bounds a door that gets them wrong. */
const MAX_KINDS = 64;
const MAX_DIGESTED_BYTES = 64 * 1024;

interface Gathered {
  readonly door: string;
  readonly reason: string;
  readonly firstDigest: Uint8Array;
  count: number;
}

export function createRefusals(ledger: Ledger): Refusals {
  const gathered = new Map<string, Gathered>();
  let timer: NodeJS.Timeout | undefined;

  async function flush(): Promise<void> {
    if (timer !== undefined) clearTimeout(timer);
    timer = undefined;
    if (gathered.size === 0) return;
    const entries: EntryDraft[] = [...gathered.values()].map((kind) => ({ case: "requestRefused", value: kind }));
    gathered.clear();
    await ledger.append({ chain: SYSTEM_CHAIN, entries });
  }

  return {
    count(refusal) {
      const key = gathered.size < MAX_KINDS ? `${refusal.door}\n${refusal.reason}` : "other\nother";
      const known = gathered.get(key);
      if (known !== undefined) {
        known.count++;
        return;
      }
      const [door = "other", reason = "other"] = key.split("\n");
      const firstDigest = blake3((refusal.bytes ?? new Uint8Array(0)).subarray(0, MAX_DIGESTED_BYTES));
      gathered.set(key, { door, reason, firstDigest, count: 1 });
      // One write per window, at its end: at most one RequestRefused per door, reason and second.
      timer ??= setTimeout(() => void flush().catch(() => undefined), WINDOW_MS);
    },
    flush,
    close: flush,
  };
}
