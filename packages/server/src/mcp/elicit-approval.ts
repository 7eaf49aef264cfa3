import type { ElicitRequestFormParams } from "@modelcontextprotocol/server";
import { isKernelError } from "@narthex/contracts";
import { createApprovalForm, type FormDecision, readFormDecision } from "./approval-form.ts";
import type { CalledTool } from "./call-tool.ts";
import type { McpSession } from "./mcp-session.ts";
import type { StartedCall } from "./start-call.ts";

/** An approval request that may be shown to the user of the client. */
export interface ElicitableApproval {
  readonly approvalId: string;
  readonly form: ElicitRequestFormParams;
}

export interface ApprovalLookup {
  readonly requestId: string;
  /** Approval that an equal call was told to wait for. */
  readonly waitsFor: string | undefined;
  /** Approval that was already shown to the client. */
  readonly excludedApprovalId: string | undefined;
}

const FORM_TIMEOUT_MS = 600_000;

/**
 * Finds the approval request that a call causes, if it causes one before it ends.
 *
 * SECURITY: no user is asked here unless the configuration allows it and the client can show a form. A request for the
 * console, or one that could not be shown whole, is left to the other doors.
 */
export async function findElicitableApproval(
  { requestId, waitsFor, excludedApprovalId }: ApprovalLookup,
  { answered }: Pick<StartedCall, "answered">,
  { client }: CalledTool,
  { caller, elicitation, log }: McpSession,
): Promise<ElicitableApproval | undefined> {
  if (elicitation !== true || !client.takesForms) return undefined;
  try {
    const question = await caller.approvals.find((asked) => {
      const isOurs = asked.requestId === requestId || asked.approvalId === waitsFor;
      return isOurs && asked.approvalId !== excludedApprovalId;
    }, answered);
    if (question === undefined || question.kind !== "human") return undefined;
    const form = createApprovalForm(question);
    return form && { approvalId: question.approvalId, form };
  } catch (fault) {
    if (!answered.aborted) log?.("warn", "open questions could not be read", { error: describe(fault) });
    return undefined;
  }
}

/** In the previous revision the form is sent while the call waits; the first decision, here or elsewhere, counts. */
export async function elicitApproval(
  { approvalId, form }: ElicitableApproval,
  { answered }: Pick<StartedCall, "answered">,
  called: CalledTool,
  session: McpSession,
): Promise<void> {
  try {
    const { mcpReq } = called.context;
    // Sent on the stream of the call's own response, because the client may have no other stream.
    const options = { relatedRequestId: mcpReq.id, signal: answered, timeout: FORM_TIMEOUT_MS };
    const result = await mcpReq.elicitInput(form, options);
    await submitDecision(approvalId, readFormDecision(result), called, session);
  } catch (fault) {
    if (!answered.aborted) session.log?.("warn", "a client could not be asked", { error: describe(fault) });
  }
}

export async function submitDecision(
  approvalId: string,
  answer: FormDecision,
  { client }: CalledTool,
  { caller, elicitation, log }: McpSession,
): Promise<void> {
  if (elicitation !== true) return;
  if (answer !== "once" && answer !== "deny") {
    // The decline decides nothing, so the call continues even if it cannot be recorded.
    await caller.approvals.decline({ approvalId, client: client.name, action: answer }).catch((fault: unknown) => {
      log?.("warn", "a client's decline could not be recorded", { approval: approvalId, error: describe(fault) });
    });
    return;
  }
  try {
    await caller.approvals.decide({ approvalId, answer, approver: `client ${client.name}` });
  } catch (fault) {
    // The approval was resolved elsewhere, or has ended: the call itself reports the outcome.
    if (!isKernelError(fault)) throw fault;
  }
}

function describe(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault);
}
