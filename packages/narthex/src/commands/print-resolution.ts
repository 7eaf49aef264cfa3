import { type ResolveApprovalResponse, StandingApprovalSchema } from "@narthex/contracts";
import type { ResolveApprovalInput } from "../connection/kernel-connection.ts";
import { messageToJson } from "../terminal/message-json.ts";
import type { Terminal } from "../terminal/terminal.ts";
import { visible } from "../terminal/visible.ts";
import { renderStanding } from "./approvals-view.ts";

/** Prints the effect of a decision on an approval request. */
export function printResolution(
  { approvalId, approver }: ResolveApprovalInput,
  { answer, isAwaited, standing }: ResolveApprovalResponse,
  terminal: Terminal,
): void {
  if (terminal.json) {
    terminal.printJson({
      approval_id: approvalId,
      answer,
      approver,
      is_awaited: isAwaited,
      ...(standing && { standing: messageToJson(StandingApprovalSchema, standing) }),
    });
    return;
  }
  const word = answer === "deny" ? "denied" : "approved";
  terminal.print(visible(`${word} ${approvalId}${answer === "once" ? ", once" : ""}, by ${approver}`));
  if (!isAwaited && answer !== "deny") {
    terminal.note("its caller has stopped waiting: the call runs when the agent makes it again");
  }
  if (standing === undefined) return;
  terminal.print(...renderStanding(standing, terminal.paint));
  terminal.note(visible(`take it back with \`narthex approvals revoke ${standing.standingId}\``));
}
