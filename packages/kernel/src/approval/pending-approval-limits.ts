import type { ApprovalSubject } from "./approval-subject.ts";
import type { PendingApproval } from "./pending-approval.ts";

const MAX_OPEN = 1000;
/**
 * SECURITY: one agent that asks and asks must not use up what people of other sessions can be asked. It can split off as
 * many sessions as it likes, so they count together.
 */
const MAX_OPEN_PER_SESSION = 32;
/** SECURITY: what is shown is held whole until it is answered. */
const MAX_OPEN_BYTES = 64 * 1024 * 1024;
const MAX_OPEN_BYTES_PER_SESSION = 16 * 1024 * 1024;

/** Whether one more question would be too many, or too much to hold. */
export function exceedsPendingLimits(
  pending: Iterable<PendingApproval>,
  { rootSessionId, inputBytes }: ApprovalSubject,
): boolean {
  let [count, countOfSession, bytes, bytesOfSession] = [1, 1, inputBytes, inputBytes];
  for (const { subject, isDenied } of pending) {
    // A no that nobody came for yet is kept, but is no question any more.
    const weight = isDenied ? 0 : 1;
    count += weight;
    bytes += subject.inputBytes;
    if (subject.rootSessionId !== rootSessionId) continue;
    countOfSession += weight;
    bytesOfSession += subject.inputBytes;
  }
  const isTooMany = count > MAX_OPEN || countOfSession > MAX_OPEN_PER_SESSION;
  return isTooMany || bytes > MAX_OPEN_BYTES || bytesOfSession > MAX_OPEN_BYTES_PER_SESSION;
}
