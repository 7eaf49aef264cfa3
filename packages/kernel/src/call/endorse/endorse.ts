import { type ApprovalOutcome, resolvedEntry } from "../../approval/approval-outcome.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import type { PermittedCall } from "../decide/decide.ts";
import { Denied, type Ending, Failed } from "../ending.ts";
import { createApprovalSubject } from "./create-approval-subject.ts";

/** Returned after a wait for an approval, or for a rule to be in force. The call must then be decided again. */
export const REDECIDE = Symbol("again");

/** The approval gate. ApprovalRequested is durable before a user is asked. */
export function endorse(
  call: PermittedCall,
  kernel: KernelParts,
): PermittedCall | Promise<PermittedCall | Ending | typeof REDECIDE> {
  return call.approval === "none" ? call : askPerson(call, call.approval, kernel);
}

async function askPerson(
  call: PermittedCall,
  kind: "human" | "console",
  kernel: KernelParts,
): Promise<PermittedCall | Ending | typeof REDECIDE> {
  const { trail, live, incoming, registered } = call;
  const { approvals } = kernel;
  const subject = await createApprovalSubject(call, kind, kernel);
  if (trail.approvalId !== "") {
    const isSame = kernel.registry.resolve(registered.tool.name, registered.tool.version) === registered;
    return isSame && approvals.consume(trail.approvalId, subject) ? call : REDECIDE;
  }
  const given = approvals.claimApproval(subject);
  if (given !== undefined) {
    trail.add(resolvedEntry(given));
    if (given.standingId !== undefined) return call;
    trail.approvalId = given.approvalId;
    return approvals.consume(given.approvalId, subject) ? call : REDECIDE;
  }
  const rule = approvals.findPendingRule(subject);
  if (rule !== undefined) {
    // A user is not asked again about a call for which they gave a rule.
    await rule;
    return REDECIDE;
  }
  if (!approvals.isAvailable(kind)) return unavailable(call, "no door to ask one is open");
  const outcome = await approvals.ask(subject, {
    signal: trail.running?.signal,
    waitMs: toApprovalWaitMs(incoming.deadlineMs - kernel.clock.monotonicMs()),
    async requested({ approvalId, expiresAtMs, row }) {
      const { policyHash, definitionHash } = subject;
      const inputCommitment = trail.input?.commitment;
      const asked = { approvalId, expiresAtMs, kind, policyHash, definitionHash, inputCommitment };
      trail.add({ case: "approvalRequested", value: asked });
      const draft = { chain: live.id, requestId: call.requestId, ...trail.take(), state: [row] };
      const { index } = await kernel.ledger.append(draft);
      trail.noteWritten(index);
    },
  });
  if (outcome === undefined) return unavailable(call, "too many questions are open; answer some of them first");
  trail.add(resolvedEntry(outcome));
  if (outcome.status !== "approved") return refuse(call, outcome, kernel.commandName);
  trail.approvalId = outcome.approvalId;
  return REDECIDE;
}

/**
 * Ends the wait before the caller's deadline: that the approval is pending must still be recorded, and reach the
 * caller.
 */
function toApprovalWaitMs(leftMs: number): number {
  return Math.max(0, leftMs - Math.min(MAX_MARGIN_MS, leftMs / 5));
}

const MAX_MARGIN_MS = 2000;

function refuse(call: PermittedCall, { status, approvalId, reason }: ApprovalOutcome, program: string): Ending {
  switch (status) {
    case "pending":
      return new Failed(
        "APPROVAL_PENDING",
        `waiting for a person to answer with \`${program} approvals approve ${approvalId}\`, \`${program} approvals deny ` +
          `${approvalId}\` or at the console; make the same call again to go on waiting`,
        { approvalId },
      );
    case "timed_out":
      return new Denied("APPROVAL_TIMEOUT", ruleOf(call), "nobody answered the approval in time");
    case "withdrawn":
      return new Failed("CANCELLED", "the caller left while a person was being asked; nothing was done");
    default:
      return new Denied("APPROVAL_DENIED", ruleOf(call), reason ?? "a person said no to this call");
  }
}

function unavailable(call: PermittedCall, why: string): Denied {
  return new Denied("APPROVAL_UNAVAILABLE", ruleOf(call), `this call needs a person's approval, and ${why}`);
}

function ruleOf(call: PermittedCall): string {
  return call.policyEvaluation.rules[0]?.id ?? "kernel:endorse";
}
