import type { ElicitRequestFormParams } from "@modelcontextprotocol/server";
import { isKernelError } from "@narthex/contracts";
import { createApprovalForm, type FormDecision, readFormDecision } from "./approval-form.ts";
import type { CalledTool } from "./call-tool.ts";
import type { McpSession } from "./mcp-session.ts";
import type { StartedCall } from "./start-call.ts";

/** A question that may be put to whoever sits at the client. */
export interface ElicitableApproval {
  readonly approvalId: string;
  readonly form: ElicitRequestFormParams;
}

export interface ApprovalLookup {
  readonly requestId: string;
  /** The question that an equal call was told to come back for. */
  readonly waitsFor: string | undefined;
  /** One that was put to the client already. */
  readonly excludedApprovalId: string | undefined;
}

const FORM_TIMEOUT_MS = 600_000;

/**
 * The question that a call raises, if it raises one before it is answered.
 *
 * SECURITY: nobody is asked here unless the configuration allows it and the client can show a form. A question for the
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

/** In the previous revision the form goes out while the call waits; whoever answers first, here or elsewhere, counts. */
export async function elicitApproval(
  { approvalId, form }: ElicitableApproval,
  { answered }: Pick<StartedCall, "answered">,
  called: CalledTool,
  session: McpSession,
): Promise<void> {
  try {
    const { mcpReq } = called.context;
    // It goes where the call's own answer goes: of other streams the client may have none.
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
    // It decides nothing, so the call goes on whether it can be recorded or not.
    await caller.approvals.decline({ approvalId, client: client.name, action: answer }).catch((fault: unknown) => {
      log?.("warn", "a client's decline could not be recorded", { approval: approvalId, error: describe(fault) });
    });
    return;
  }
  try {
    await caller.approvals.decide({ approvalId, answer, approver: `client ${client.name}` });
  } catch (fault) {
    // It was answered elsewhere, or ended: the call itself says how.
    if (!isKernelError(fault)) throw fault;
  }
}

function describe(fault: unknown): string {
  return fault instanceof Error ? fault.message : String(fault);
}
