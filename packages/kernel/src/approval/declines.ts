import type { EntryDraft } from "../ledger/record-draft.ts";
import type { ApprovalDecline } from "./approval.ts";
import { toBoundedText, MAX_APPROVER } from "./ask-approver.ts";
import type { PendingApproval } from "./pending-approval.ts";

/** Maximum number of clients remembered for one request: a client chooses its name, and can send many. */
const MAX_NOTED = 4;

/** Creates the entry of a client's own response. Users see the last response of each of the last few clients. */
export function createDeclineEntry({ declines }: PendingApproval, decline: ApprovalDecline, nowMs: number): EntryDraft {
  const { approvalId, door, action } = decline;
  const client = toBoundedText(decline.client, MAX_APPROVER) ?? "";
  const answer = action.replaceAll("_", " ");
  const at = new Date(nowMs).toISOString();
  declines.delete(client);
  declines.set(client, `the client ${JSON.stringify(client)} answered for itself (${answer}) at ${at}; no person did`);
  const [oldest] = declines.keys();
  if (declines.size > MAX_NOTED && oldest !== undefined) declines.delete(oldest);
  return { case: "approvalDeclined", value: { approvalId, door, client, action } };
}
