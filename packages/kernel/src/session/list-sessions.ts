import { parseJson } from "@narthex/contracts";
import type { SessionFacts } from "../kernel.ts";
import type { KernelParts } from "../kernel-parts.ts";
import type { StateRow } from "../ports.ts";
import { describeSession } from "./describe-session.ts";
import type { Session } from "./session.ts";
import { sessionStateAt } from "./session-state-at.ts";
import { sessionFromJson } from "./session-to-json.ts";

const MAX_ROWS = 20_000;
const ID_LETTERS = "abcdefghijklmnopqrstuvwxyz234567";

/** Lists sessions, newest first. */
export async function listSessions(
  query: { readonly all: boolean; readonly limit: number },
  kernel: KernelParts,
): Promise<SessionFacts[]> {
  const nowMs = kernel.ledger.nowMs();
  let newest: Session[] = [];
  for await (const rows of readRows(kernel)) {
    const wanted = rows.flatMap(sessionOf).filter((session) => query.all || sessionStateAt(session, nowMs) === "open");
    newest = [...newest, ...wanted].sort((left, right) => right.openedAtMs - left.openedAtMs).slice(0, query.limit);
  }
  const found = await Promise.all(newest.map((session) => kernel.sessions.find(session.id)));
  return found.flatMap((live) => (live === undefined ? [] : [describeSession(live, nowMs)]));
}

/** Reads all rows at once if they are few, otherwise by the first letter of their ids. */
async function* readRows(kernel: KernelParts): AsyncGenerator<StateRow[]> {
  const rows = await kernel.store.listState("sessions", "ses_", MAX_ROWS);
  if (rows.length < MAX_ROWS) {
    yield rows;
    return;
  }
  for (const letter of ID_LETTERS) yield await kernel.store.listState("sessions", `ses_${letter}`, MAX_ROWS);
}

/** The session in a row; empty for usage rows, which are in the same table. */
function sessionOf({ key, value }: StateRow): Session[] {
  return key.includes("/") ? [] : [sessionFromJson(parseJson(value))];
}
