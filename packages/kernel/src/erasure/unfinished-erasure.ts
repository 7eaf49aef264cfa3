import { canonicalJsonBytes, fromHex, isJsonObject, parseJson, toHex } from "@narthex/contracts";
import type { StateChange, Store } from "../ports.ts";
import type { Erasure } from "./erasure.ts";

const KEY = "erasure";

/**
 * State row written with every record of an erasure except the last, so that the next start resumes an erasure that a
 * crash interrupted.
 */
export function unfinishedErasureRow({ hashes, sessionIds, reason, by }: Erasure): StateChange {
  const value = canonicalJsonBytes({ hashes: hashes.map(toHex), session_ids: [...sessionIds], reason, by });
  return { table: "meta", key: KEY, value };
}

export function removedErasureRow(): StateChange {
  return { table: "meta", key: KEY, value: undefined };
}

/** Only this module writes these rows. A damaged row is ignored: nothing is erased because of it. */
export async function findUnfinished(store: Store): Promise<Erasure | undefined> {
  const row = await store.getState("meta", KEY);
  const value = row === undefined ? undefined : parseJson(row);
  if (!isJsonObject(value ?? null)) return undefined;
  const { hashes, session_ids: sessionIds, reason, by } = value as Record<string, unknown>;
  return {
    hashes: texts(hashes)
      .map(fromHex)
      .filter((hash) => hash !== undefined),
    sessionIds: texts(sessionIds),
    reason: String(reason),
    by: String(by),
    dryRun: false,
  };
}

function texts(value: unknown): string[] {
  return Array.isArray(value) ? value.map(String) : [];
}
