import type { ApprovalSubject } from "../../approval/approval-subject.ts";
import type { ApprovalOutcome } from "../../approval/approvals.ts";
import type { PermittedCall } from "../decide/decide.ts";
import { Denied, type Ending, Failed } from "../ending.ts";
import type { KernelParts } from "../../kernel-parts.ts";

/** Someone was asked and said yes: what was decided before the wait is decided again. */
export const AGAIN = Symbol("again");

/** The approval gate. ApprovalRequested is durable before anyone is asked. */
export function endorse(
  call: PermittedCall,
  kernel: KernelParts,
): PermittedCall | Promise<PermittedCall | Ending | typeof AGAIN> {
  return call.approval === "none" ? call : askPerson(call, call.approval, kernel);
}

async function askPerson(
  call: PermittedCall,
  kind: "human" | "console",
  kernel: KernelParts,
): Promise<PermittedCall | Ending | typeof AGAIN> {
  const subject = subjectOf(call, kind);
  const { trail, live, frame, registered } = call;
  if (trail.approvalId !== "") {
    const isSame = kernel.registry.resolve(registered.tool.name, registered.tool.version) === registered;
    return isSame && kernel.approvals.redeem(trail.approvalId, subject) ? call : AGAIN;
  }
  if (!kernel.approvals.isAvailable(subject.kind)) return unavailable(call, "no door to ask one is open");
  const outcome = await kernel.approvals.ask(subject, {
    signal: trail.running?.signal,
    waitMs: Math.max(0, frame.deadlineMs - kernel.clock.monotonicMs()),
    async requested(approval) {
      trail.add({ case: "approvalRequested", value: { ...approval, inputCommitment: trail.input?.commitment } });
      const { index } = await kernel.ledger.append({ chain: live.id, requestId: call.requestId, ...trail.take() });
      trail.noteWritten(index);
    },
  });
  if (outcome === undefined) return unavailable(call, "too many questions are open; answer some of them first");
  const { approvalId, answer, door, approver } = outcome;
  trail.add({ case: "approvalResolved", value: { approvalId, answer, door, approver } });
  if (answer !== "approved") return refuse(call, outcome);
  trail.approvalId = approvalId;
  return AGAIN;
}

function subjectOf(call: PermittedCall, kind: "human" | "console"): ApprovalSubject {
  const { session } = call.live;
  return {
    kind,
    sessionId: session.id,
    agent: session.agent,
    user: session.user,
    workspace: session.workspace,
    tool: call.registered.id,
    definitionHash: call.registered.definitionHash,
    input: call.input,
    inputDigest: call.inputDigest,
    policyHash: call.policyHash,
    ruleIds: call.policyAnswer.rules.map((rule) => rule.id),
  };
}

function refuse(call: PermittedCall, outcome: ApprovalOutcome): Ending {
  switch (outcome.answer) {
    case "pending":
      return new Failed(
        "APPROVAL_PENDING",
        `waiting for a person to answer approval \`${outcome.approvalId}\`; make the same call again to go on waiting`,
        { approvalId: outcome.approvalId },
      );
    case "timed_out":
      return new Denied("APPROVAL_TIMEOUT", ruleOf(call), "nobody answered the approval in time");
    case "withdrawn":
      return new Failed("CANCELLED", "the caller left while a person was being asked; nothing was done");
    default:
      return new Denied("APPROVAL_DENIED", ruleOf(call), outcome.reason ?? "a person said no to this call");
  }
}

function unavailable(call: PermittedCall, why: string): Denied {
  return new Denied("APPROVAL_UNAVAILABLE", ruleOf(call), `this call needs a person's approval, and ${why}`);
}

function ruleOf(call: PermittedCall): string {
  return call.policyAnswer.rules[0]?.id ?? "kernel:endorse";
}
