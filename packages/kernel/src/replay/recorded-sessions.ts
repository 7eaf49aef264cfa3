import type { Store } from "../ports.ts";

const MAX_SESSIONS = 100_000;

/** Lists the ids of all sessions in the store, sorted, at most `MAX_SESSIONS`. */
export async function listRecordedSessions(store: Store): Promise<string[]> {
  const rows = await store.listState("sessions", "ses_", MAX_SESSIONS);
  return rows.map(({ key }) => key).filter((key) => !key.includes("/"));
}
