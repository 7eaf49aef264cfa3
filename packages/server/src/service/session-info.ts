import { create, type SessionInfo, SessionInfoSchema } from "@narthex/contracts";
import { leaseToJson, type SessionFacts } from "@narthex/kernel";

/** Converts a session for an administrator. Omits the hash of its token. */
export function toSessionInfo({ session, lease, budgetRemaining }: SessionFacts): SessionInfo {
  return create(SessionInfoSchema, {
    sessionId: session.id,
    state: session.state,
    tenant: session.tenant,
    user: session.user,
    agent: session.agent,
    workspace: session.workspace,
    workingDirectory: session.workingDirectory,
    leaseId: session.leaseId,
    lease: JSON.stringify(leaseToJson(lease)),
    openedAtMs: BigInt(session.openedAtMs),
    expiresAtMs: BigInt(session.expiresAtMs),
    calls: BigInt(session.calls),
    labels: [...session.labels],
    seed: session.seed,
    budgetRemaining: JSON.stringify(budgetRemaining),
    parentSessionId: session.parentSessionId ?? "",
  });
}
