import { blake3, utf8 } from "@narthex/contracts";
import type { Random, Store } from "../ports.ts";
import { FingerprintSet } from "./fingerprint-set.ts";

/**
 * Which request ids a session has used. A fresh id costs no question to the store: fingerprints of every id are in
 * memory as long as they fit, and only an id that may have been seen is looked up.
 */
export interface RequestMemory {
  /** False means certainly never used. */
  mayHave(sessionId: string, requestId: string): boolean;
  add(sessionId: string, requestId: string): void;
  /** Starts an empty memory for a new session. */
  begin(sessionId: string): void;
  /** Reads what an earlier process knew. */
  load(sessionId: string): Promise<void>;
  forget(sessionId: string): void;
}

/** Over all sessions: at most 16 bytes a member. Past it, the store is asked. */
const MAX_MEMBERS = 4_000_000;
const MAX_LOADED = 200_000;

export function createRequestMemory(store: Store, random: Random): RequestMemory {
  const known = new Map<string, FingerprintSet>();
  // SECURITY: ids are chosen by callers; a secret key keeps them from choosing colliding fingerprints.
  const key = random.bytes(16);
  let members = 0;

  function drop(sessionId: string): void {
    members -= known.get(sessionId)?.size ?? 0;
    known.delete(sessionId);
  }

  function add(sessionId: string, requestId: string): void {
    const set = known.get(sessionId);
    if (set === undefined) return;
    const before = set.size;
    const [low, high] = fingerprint(key, requestId);
    set.add(low, high);
    members += set.size - before;
    if (members <= MAX_MEMBERS) return;
    const oldest = known.keys().next().value;
    if (oldest !== undefined) drop(oldest);
  }

  return {
    mayHave(sessionId, requestId) {
      const set = known.get(sessionId);
      if (set === undefined) return true;
      const [low, high] = fingerprint(key, requestId);
      return set.has(low, high);
    },
    add,
    begin(sessionId) {
      known.set(sessionId, new FingerprintSet());
    },
    async load(sessionId) {
      const requestIds = await store.listRequestIds(sessionId, MAX_LOADED + 1);
      if (requestIds.length > MAX_LOADED) return;
      known.set(sessionId, new FingerprintSet());
      for (const requestId of requestIds) add(sessionId, requestId);
    },
    forget: drop,
  };
}

function fingerprint(key: Uint8Array, requestId: string): readonly [number, number] {
  const id = utf8(requestId);
  const keyed = new Uint8Array(key.length + id.length);
  keyed.set(key);
  keyed.set(id, key.length);
  const hash = blake3(keyed);
  return [word(hash, 0), word(hash, 4)];
}

function word(bytes: Uint8Array, at: number): number {
  return (
    ((bytes[at] ?? 0) | ((bytes[at + 1] ?? 0) << 8) | ((bytes[at + 2] ?? 0) << 16) | ((bytes[at + 3] ?? 0) << 24)) >>> 0
  );
}
