import { blake3, MAX_ID_LEN } from "@narthex/contracts";
import type { Random, Store } from "../ports.ts";
import { FingerprintSet } from "./fingerprint-set.ts";

/**
 * Tracks which request ids a session has used. A new id needs no store lookup: fingerprints of all ids are in memory as
 * long as they fit, and only an id that may have been used is looked up.
 */
export interface UsedRequestIds {
  /** Fingerprint of an id; computed once per call. */
  fingerprint(requestId: string): Fingerprint;
  /** False means that the id was certainly never used. */
  mayHave(sessionId: string, fingerprint: Fingerprint): boolean;
  add(sessionId: string, fingerprint: Fingerprint): void;
  /** Starts an empty set for a new session. */
  begin(sessionId: string): void;
  /** Loads the ids that an earlier process recorded. */
  load(sessionId: string): Promise<void>;
  forget(sessionId: string): void;
}

export type Fingerprint = readonly [low: number, high: number];

/**
 * Maximum number of fingerprints over all sessions, at most 16 bytes each. Beyond it, ids are looked up in the store.
 */
const MAX_MEMBERS = 4_000_000;
const MAX_LOADED = 200_000;

export function createUsedRequestIds(store: Store, random: Random): UsedRequestIds {
  const known = new Map<string, FingerprintSet>();
  const fingerprint = createFingerprint(random);
  let members = 0;

  function drop(sessionId: string): void {
    members -= known.get(sessionId)?.size ?? 0;
    known.delete(sessionId);
  }

  function add(sessionId: string, [low, high]: Fingerprint): void {
    const set = known.get(sessionId);
    if (set === undefined) return;
    const before = set.size;
    set.add(low, high);
    members += set.size - before;
    if (members <= MAX_MEMBERS) return;
    const oldest = known.keys().next().value;
    if (oldest !== undefined) drop(oldest);
  }

  return {
    fingerprint,
    mayHave: (sessionId, [low, high]) => known.get(sessionId)?.has(low, high) ?? true,
    add,
    begin(sessionId) {
      known.set(sessionId, new FingerprintSet());
    },
    async load(sessionId) {
      const requestIds = await store.listRequestIds(sessionId, MAX_LOADED + 1);
      if (requestIds.length > MAX_LOADED) return;
      known.set(sessionId, new FingerprintSet());
      for (const requestId of requestIds) add(sessionId, fingerprint(requestId));
    },
    forget: drop,
  };
}

/** SECURITY: callers choose ids; a secret key keeps them from choosing ids that collide. */
function createFingerprint(random: Random): (requestId: string) => Fingerprint {
  const key = random.bytes(KEY_BYTES);
  // INVARIANT: filled and hashed without awaiting in between, so one buffer can be shared by all ids.
  const keyed = new Uint8Array(KEY_BYTES + MAX_ID_LEN * MAX_CHARACTER_BYTES);
  keyed.set(key);
  const text = keyed.subarray(KEY_BYTES);
  return (requestId) => {
    const { written } = encoder.encodeInto(requestId, text);
    const hash = blake3(keyed.subarray(0, KEY_BYTES + written));
    return [word(hash, 0), word(hash, 4)];
  };
}

const KEY_BYTES = 16;
const MAX_CHARACTER_BYTES = 4;
const encoder = new TextEncoder();

function word(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)) >>> 0
  );
}
