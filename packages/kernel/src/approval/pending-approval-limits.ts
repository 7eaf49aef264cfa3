import type { ApprovalSubject } from "./approval-subject.ts";
import type { PendingApproval } from "./pending-approval.ts";

const MAX_OPEN = 1000;
/**
 * SECURITY: an agent that keeps asking must not use up the requests available to other sessions. It can create any
 * number of child sessions, so all sessions with the same root count together.
 */
const MAX_OPEN_PER_SESSION = 32;
/** SECURITY: the whole input is held in memory until a decision. */
const MAX_OPEN_BYTES = 64 * 1024 * 1024;
const MAX_OPEN_BYTES_PER_SESSION = 16 * 1024 * 1024;

/** Whether one more request would exceed the maximum number or the memory limit. */
export function exceedsPendingLimits(
  pending: Iterable<PendingApproval>,
  { rootSessionId, inputBytes }: ApprovalSubject,
): boolean {
  let [count, countOfSession, bytes, bytesOfSession] = [1, 1, inputBytes, inputBytes];
  for (const { subject, isDenied } of pending) {
    // A denial that no caller has fetched yet is kept, but is no longer a request.
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
