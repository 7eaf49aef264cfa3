import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { type AdminService, KernelError } from "@narthex/contracts";
import type { ApprovalDecline, ApprovalResolution, Kernel } from "@narthex/kernel";
import { toApprovalInfo, toStandingApproval } from "./approval-info.ts";
import { callerKey } from "./authorization.ts";

type Methods = "listApprovals" | "resolveApproval" | "declineApproval" | "revokeApproval";
type ApprovalMethods = Pick<ServiceImpl<typeof AdminService>, Methods>;

/** Set by a client that decides on behalf of a user of an MCP client. It only ever reduces rights. */
const DOOR_HEADER = "narthex-door";

type ApprovalKernel = Pick<Kernel, Methods>;

/** SECURITY: none of these accepts a session token: an agent cannot approve its own request. See authorization.ts. */
export function createApprovalMethods(kernel: ApprovalKernel): ApprovalMethods {
  return {
    listApprovals({ standing }) {
      const list = kernel.listApprovals();
      return {
        approvals: list.open.map(toApprovalInfo),
        standing: standing ? list.standing.map(toStandingApproval) : [],
      };
    },

    async resolveApproval({ approvalId, answer, words, approver, reason }, context) {
      const resolved = await kernel.resolveApproval({
        approvalId,
        answer: parseAnswer(answer),
        ...(words === 0 ? {} : { words }),
        approver: requireName(approver, "approver"),
        door: toDoor(context),
        ...(reason === "" ? {} : { reason }),
      });
      return {
        answer: resolved.answer,
        isAwaited: resolved.isAwaited,
        ...(resolved.standing && { standing: toStandingApproval(resolved.standing) }),
      };
    },

    async declineApproval({ approvalId, client, action }, context) {
      const named = requireName(client, "client");
      await kernel.declineApproval({ approvalId, client: named, action: parseAction(action), door: toDoor(context) });
      return {};
    },

    async revokeApproval({ standingId, by }) {
      return { standing: toStandingApproval(await kernel.revokeApproval({ standingId, by: requireName(by, "by") })) };
    },
  };
}

/**
 * SECURITY: the admin token lies in the home, readable only by its owner: its bearer has access to the machine. A token
 * of scope approve may lie anywhere, so it counts as a door of its own, and not as the console.
 */
function toDoor(context: HandlerContext): string {
  // An MCP client identifies itself, and does not count as the console whatever its token.
  if (context.requestHeader.get(DOOR_HEADER) === "mcp") return "mcp";
  const caller = context.values.get(callerKey);
  return caller.kind === "scoped" && caller.scope === "admin" ? "cli" : "wire";
}

function parseAnswer(text: string): ApprovalResolution["answer"] {
  if (text === "once" || text === "session" || text === "rule" || text === "deny") return text;
  throw invalid("answer", "one_of", "`answer` is once, session, rule or deny");
}

function parseAction(text: string): ApprovalDecline["action"] {
  if (text === "decline" || text === "cancel" || text === "no_answer") return text;
  throw invalid("action", "one_of", "`action` is decline, cancel or no_answer");
}

/** The ledger records who decided. */
function requireName(name: string, field: string): string {
  if (name.trim() !== "") return name;
  throw invalid(field, "required", `say in \`${field}\` who answers`);
}

function invalid(field: string, rule: string, message: string): KernelError {
  return new KernelError("INVALID_INPUT", message, { violations: [{ field, rule, message }] });
}
