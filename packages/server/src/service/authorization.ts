import { Code, ConnectError, type ContextKey, createContextKey, type HandlerContext } from "@connectrpc/connect";
import { AdminService, isKernelError, KernelError, KernelService, parseToken } from "@narthex/contracts";
import type { Kernel } from "@narthex/kernel";
import { Health } from "@narthex/contracts/health";
import { toUnauthenticated } from "./connect-error.ts";
import type { Authorize, TokenScope } from "./token-scope.ts";

export type Caller =
  | { readonly kind: "anyone" }
  | { readonly kind: "session"; readonly sessionId: string }
  | { readonly kind: "scoped"; readonly scope: TokenScope };

/** The caller of a request, as identified by its bearer token. */
export const callerKey: ContextKey<Caller> = createContextKey<Caller>({ kind: "anyone" });

/** The callers that each RPC accepts. An RPC that is not listed here accepts none. */
const OPEN_TO: ReadonlyMap<unknown, readonly ("anyone" | "session" | TokenScope)[]> = new Map<
  unknown,
  readonly ("anyone" | "session" | TokenScope)[]
>([
  // Authenticated by each request's own session_token.
  [KernelService.method.call, ["anyone"]],
  [KernelService.method.callStream, ["anyone"]],
  [KernelService.method.session, ["anyone"]],
  [KernelService.method.listTools, ["session", "admin"]],
  [KernelService.method.putContent, ["session"]],
  [KernelService.method.getContent, ["session", "admin"]],
  [KernelService.method.delegateLease, ["session"]],
  [KernelService.method.releaseLease, ["session"]],
  [AdminService.method.openSession, ["admin"]],
  [AdminService.method.closeSession, ["admin"]],
  [AdminService.method.attendSession, ["admin"]],
  [AdminService.method.stopKernel, ["admin"]],
  [AdminService.method.getKernel, ["admin", "read"]],
  [AdminService.method.revokeLease, ["admin"]],
  [AdminService.method.clearWorkspaceLabels, ["admin"]],
  [AdminService.method.reloadPolicy, ["admin"]],
  [AdminService.method.listApprovals, ["admin", "approve"]],
  [AdminService.method.resolveApproval, ["admin", "approve"]],
  [AdminService.method.declineApproval, ["admin", "approve"]],
  [AdminService.method.revokeApproval, ["admin", "approve"]],
  [AdminService.method.settleIntent, ["admin"]],
  [AdminService.method.undo, ["admin"]],
  [AdminService.method.eraseContent, ["admin"]],
  [AdminService.method.collectContent, ["admin"]],
  [AdminService.method.backUp, ["admin"]],
  [AdminService.method.recordHookDecision, ["admin"]],
  [AdminService.method.signCheckpoint, ["admin"]],
  [AdminService.method.rotateLogKey, ["admin"]],
  [AdminService.method.getCheckpoint, ["admin", "read"]],
  [AdminService.method.proveRecord, ["admin", "read"]],
  [AdminService.method.proveConsistency, ["admin", "read"]],
  [AdminService.method.listSessions, ["admin", "read"]],
  [AdminService.method.getSession, ["admin", "read"]],
  [AdminService.method.getLease, ["admin", "read"]],
  [AdminService.method.getWorkspaceLabels, ["admin", "read"]],
  [AdminService.method.getPolicy, ["admin", "read"]],
  [AdminService.method.explainCall, ["admin", "read"]],
  [AdminService.method.listRecords, ["admin", "read"]],
  [AdminService.method.getRecord, ["admin", "read"]],
  [AdminService.method.tailLedger, ["admin", "read"]],
  [AdminService.method.verify, ["admin", "read"]],
  [AdminService.method.replay, ["admin", "read"]],
  // Includes all content, which a read token must not get.
  [AdminService.method.exportLedger, ["admin"]],
  [AdminService.method.statContent, ["admin", "read"]],
  [AdminService.method.listIntents, ["admin", "read"]],
  [Health.method.check, ["anyone"]],
  [Health.method.list, ["anyone"]],
  [Health.method.watch, ["anyone"]],
]);

/** Runs before anything of the body is read. */
export function createAuthorization(kernel: Kernel, authorize: Authorize) {
  return async function requestGate(context: HandlerContext): Promise<void> {
    const openTo = OPEN_TO.get(context.service.method[context.method.localName]) ?? [];
    if (openTo.includes("anyone")) return;
    let caller: Caller;
    try {
      caller = await identify(readBearerToken(context.requestHeader));
    } catch (fault) {
      if (isKernelError(fault)) kernel.refuse({ door: context.protocolName, reason: fault.code });
      throw toUnauthenticated(fault);
    }
    if (!openTo.includes(caller.kind === "scoped" ? caller.scope : caller.kind)) {
      kernel.refuse({ door: context.protocolName, reason: "scope" });
      throw new ConnectError(`this token may not ${context.method.name}; use one that may`, Code.PermissionDenied);
    }
    context.values.set(callerKey, caller);
  };

  async function identify(token: string): Promise<Caller> {
    // SECURITY: a session token has a distinct form, so that no scope is ever looked up for one.
    if (parseToken(token) !== undefined) {
      const { session } = await kernel.authenticate(token);
      return { kind: "session", sessionId: session.id };
    }
    const granted = token === "" ? undefined : await authorize(token);
    if (granted === undefined) {
      throw new KernelError("TOKEN_INVALID", "send `Authorization: Bearer TOKEN` with a valid token");
    }
    return { kind: "scoped", scope: granted.scope };
  }
}

function readBearerToken(header: Headers): string {
  return /^bearer ([\x21-\x7e]{1,512})$/i.exec(header.get("authorization") ?? "")?.[1] ?? "";
}
