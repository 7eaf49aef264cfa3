import { blake3 } from "@narthex/contracts";
import type { Refusal } from "../kernel.ts";
import type { Ledger } from "./ledger.ts";
import { type EntryDraft, SYSTEM_CHAIN } from "./record-draft.ts";

/** Collects refused requests that reached no session, so that an unauthenticated client cannot fill the disk. */
export interface Refusals {
  /**
   * Counts a refusal. `bytes` is a function for bytes that are expensive to create: it is called only for the first
   * refusal of a kind.
   */
  count(refusal: Refusal, bytes?: () => Uint8Array): void;
  /** Writes the collected refusals. */
  flush(): Promise<void>;
}

const WINDOW_MS = 1000;
/** Doors and reasons come from closed sets; this limit protects against a door that passes arbitrary ones. */
const MAX_KINDS = 64;
const MAX_NAME_LENGTH = 64;
const MAX_DIGESTED_BYTES = 64 * 1024;
const NO_BYTES = new Uint8Array(0);

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
    clearTimeout(timer);
    timer = undefined;
    if (gathered.size === 0) return;
    const entries: EntryDraft[] = [...gathered.values()].map((kind) => ({ case: "requestRefused", value: kind }));
    gathered.clear();
    await ledger.append({ chain: SYSTEM_CHAIN, entries });
  }

  return {
    count(refusal, bytes = () => refusal.bytes ?? NO_BYTES) {
      if (ledger.failure !== undefined) return;
      const kind = findKind(gathered, refusal);
      const known = gathered.get(kind.key);
      if (known !== undefined) {
        known.count++;
        return;
      }
      const firstDigest = blake3(bytes().subarray(0, MAX_DIGESTED_BYTES));
      gathered.set(kind.key, { door: kind.door, reason: kind.reason, firstDigest, count: 1 });
      // One write per window, at its end: at most one RequestRefused per door, reason and second.
      timer ??= setTimeout(() => void flush().catch(() => undefined), WINDOW_MS);
    },
    flush,
  };
}

function findKind(
  gathered: ReadonlyMap<string, Gathered>,
  refusal: Refusal,
): { readonly key: string; readonly door: string; readonly reason: string } {
  const door = refusal.door.slice(0, MAX_NAME_LENGTH);
  const reason = refusal.reason.slice(0, MAX_NAME_LENGTH);
  const key = `${door}\n${reason}`;
  if (gathered.has(key) || gathered.size < MAX_KINDS) return { key, door, reason };
  return { key: "other\nother", door: "other", reason: "other" };
}
