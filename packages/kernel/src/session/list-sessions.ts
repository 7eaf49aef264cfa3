import type { SessionFacts } from "../kernel.ts";
import type { KernelParts } from "../kernel-parts.ts";
import { describeSession } from "./describe-session.ts";

const MAX_ROWS = 20_000;

/** Newest first. */
export async function listSessions(
  query: { readonly all: boolean; readonly limit: number },
  kernel: KernelParts,
): Promise<SessionFacts[]> {
  const rows = await kernel.store.listState("sessions", "ses_", MAX_ROWS);
  const nowMs = kernel.ledger.nowMs();
  const found: SessionFacts[] = [];
  for (const { key } of rows) {
    if (key.includes("/")) continue;
    const live = await kernel.sessions.find(key);
    if (live === undefined) continue;
    const facts = describeSession(live, nowMs);
    if (query.all || facts.session.state === "open") found.push(facts);
  }
  found.sort((left, right) => right.session.openedAtMs - left.session.openedAtMs);
  return found.slice(0, query.limit);
}
