import type { ApprovalKind } from "../../approval/approval.ts";
import type { ApprovalSubject } from "../../approval/approval-subject.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { relativeDirectory } from "../../session/relative-directory.ts";
import { rootSession } from "../../session/lineage.ts";
import type { PermittedCall } from "../decide/decide.ts";
import { callLabels } from "../call-labels.ts";
import { filesToRun } from "./files-to-run.ts";

/** Creates the subject of an approval: what a user is shown, and what the approval is bound to. */
export async function createApprovalSubject(
  call: PermittedCall,
  kind: ApprovalKind,
  kernel: KernelParts,
): Promise<ApprovalSubject> {
  const { registered, live, input } = call;
  const { session } = live;
  const { rules } = call.policyEvaluation;
  return {
    kind,
    rootSessionId: rootSession(live).id,
    sessionId: session.id,
    requestId: call.requestId,
    tenant: session.tenant,
    agent: session.agent,
    user: session.user,
    workspace: session.workspace,
    directory: relativeDirectory(session),
    tool: registered.id,
    action: call.action,
    isBuiltin: registered.tool.source === "builtin",
    definitionHash: registered.definitionHash,
    input: call.recordedInput,
    inputBytes: call.inputBytes.length,
    inputDigest: call.inputDigest,
    policyHash: call.policyHash,
    ruleIds: rules.map((rule) => rule.id),
    messages: rules.flatMap(({ message }) => (message === undefined ? [] : [message])),
    always: call.always,
    tier: call.tier,
    effects: call.effects,
    labels: callLabels(call, call.effects, kernel),
    // SECURITY: an approval for more than this exact input would be stored with its scope, including the secrets in it.
    scope: call.trail.isRedacted ? undefined : registered.tool.approvalScope?.(input, live.toolSession),
    files: await filesToRun(call, kernel),
  };
}
