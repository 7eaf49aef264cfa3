import { parseJson } from "@narthex/contracts";
import { KERNEL_DOOR, resolvedEntry } from "../approval/approval-outcome.ts";
import { readRow, removeRow } from "../approval/approval-rows.ts";
import { intentFromRow, intentRow } from "../journal/intent.ts";
import type { KernelParts } from "../kernel-parts.ts";
import { SYSTEM_CHAIN } from "../ledger/record-draft.ts";
import { closeSession } from "../session/close-session.ts";
import { sessionFromJson } from "../session/session-to-json.ts";

/** Key of the state row of a home that was created from a backup and has not been started since. */
export const RESTORED_KEY = "restored";

const PAGE = 256;
const MAX_ROWS = 100_000;

/**
 * Handles the first start of a copied home. The original kernel may have continued, so nothing that was granted once
 * may be used here a second time: every session is closed, with its token, its keys and its budget; unused one-time
 * approvals and open approval requests are withdrawn; calls that were running stay unknown, because the copy cannot
 * tell what became of them. Returns whether the home was such a copy.
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
  // Loads the standing approvals, so that closing the sessions ends theirs.
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
