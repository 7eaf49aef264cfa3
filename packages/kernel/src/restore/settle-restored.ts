import { parseJson } from "@narthex/contracts";
import { KERNEL_DOOR, resolvedEntry } from "../approval/approval-outcome.ts";
import { readRow, removeRow } from "../approval/approval-rows.ts";
import { intentFromRow, intentRow } from "../journal/intent.ts";
import type { KernelParts } from "../kernel-parts.ts";
import { SYSTEM_CHAIN } from "../ledger/record-draft.ts";
import { closeSession } from "../session/close-session.ts";
import { sessionFromJson } from "../session/session-to-json.ts";

/** The state row of a home that was made of a backup and has not been started since. */
export const RESTORED_KEY = "restored";

const PAGE = 256;
const MAX_ROWS = 100_000;

/**
 * The first start on a copy. The kernel that it was copied from may have gone on, so nothing that was given once may be
 * used here a second time: every session is closed, with its token, its keys and its budget; a yes that nobody used is
 * withdrawn; and calls that were under way stay unknown, since nobody can tell from here what became of them. Answers
 * whether this was one.
 */
export async function settleRestored(kernel: KernelParts): Promise<boolean> {
  const { store, ledger } = kernel;
  const mark = await store.getState("meta", RESTORED_KEY);
  if (mark === undefined) return false;
  const takenAtMs = Number(Buffer.from(mark).toString()) || 0;
  const entry = { case: "homeRestored", value: { takenAtMs } } as const;
  await ledger.append({
    chain: SYSTEM_CHAIN,
    entries: [entry],
    state: (await store.listState("intents", "", MAX_ROWS)).map((row) =>
      intentRow({ ...intentFromRow(row), isCopied: true }),
    ),
  });
  for (const stored of await store.listState("approvals", "", MAX_ROWS)) {
    const row = readRow(stored);
    if (row.state === "standing") continue;
    const { approvalId, sessionId: chain } = row;
    const withdrawn = resolvedEntry({ approvalId, status: "withdrawn", door: KERNEL_DOOR, approver: "" });
    await ledger.append({ chain, entries: [withdrawn], state: [removeRow(approvalId)] });
  }
  // Their answers for longer go with them.
  await kernel.approvals.recover(store);
  await closeAll(kernel);
  await ledger.append({
    chain: SYSTEM_CHAIN,
    entries: [{ case: "homeRestored", value: { takenAtMs, done: true } }],
    state: [{ table: "meta", key: RESTORED_KEY, value: undefined }],
  });
  return true;
}

async function closeAll(kernel: KernelParts): Promise<void> {
  for (let after: string | undefined; ; ) {
    const rows = await kernel.store.listState("sessions", "ses_", PAGE, after);
    after = rows.at(-1)?.key;
    if (after === undefined) return;
    for (const { key, value } of rows) {
      if (key.includes("/")) continue;
      const { id, state } = sessionFromJson(parseJson(value));
      if (state === "open" || state === "quarantined") await closeSession(id, "closed", kernel);
    }
  }
}
