import type { ApprovalKind } from "../../approval/approval.ts";
import type { ApprovalSubject } from "../../approval/approval-subject.ts";
import type { KernelParts } from "../../kernel-parts.ts";
import { directoryOf } from "../../session/directory-of.ts";
import { rootOf } from "../../session/lineage.ts";
import type { PermittedCall } from "../decide/decide.ts";
import { labelsOfCall } from "../labels-of-call.ts";
import { filesToRun } from "./files-to-run.ts";

/** What a person is asked about, and what a yes is bound to. */
export async function subjectOf(
  call: PermittedCall,
  kind: ApprovalKind,
  kernel: KernelParts,
): Promise<ApprovalSubject> {
  const { registered, live, input } = call;
  const { session } = live;
  const { rules } = call.policyAnswer;
  return {
    kind,
    rootSessionId: rootOf(live).id,
    sessionId: session.id,
    requestId: call.requestId,
    tenant: session.tenant,
    agent: session.agent,
    user: session.user,
    workspace: session.workspace,
    directory: directoryOf(session),
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
    labels: labelsOfCall(call, call.effects, kernel),
    // SECURITY: an answer for more than this very input would be stored with what it covers, secrets and all.
    scope: call.trail.isRedacted ? undefined : registered.tool.approvalScope?.(input, live.toolSession),
    files: await filesToRun(call, kernel),
  };
}
