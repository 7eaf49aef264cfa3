import type { Store } from "../ports.ts";

const MAX_SESSIONS = 100_000;

/** Every session that a store has a record of, by id. */
export async function listRecordedSessions(store: Store): Promise<string[]> {
  const rows = await store.listState("sessions", "ses_", MAX_SESSIONS);
  return rows.map(({ key }) => key).filter((key) => !key.includes("/"));
}
