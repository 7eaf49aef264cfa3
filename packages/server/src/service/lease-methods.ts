import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { type AdminService, KernelError, type KernelService, type OpenSessionRequest } from "@narthex/contracts";
import { type Delegation, type Kernel, leaseToJson } from "@narthex/kernel";
import { callerKey } from "./authorization.ts";
import { toLeaseInfo } from "./lease-info.ts";
import { parseLeaseText } from "./lease-text.ts";
import { toHash, toWholeNumber } from "./wire-values.ts";

/** Delegates from a session's own lease: always the bearer's, whatever else the request says. */
export function createDelegateLease(kernel: Kernel): ServiceImpl<typeof KernelService>["delegateLease"] {
  return async ({ lease, agent, workingDirectory, seed, labels, contentHashes }, context) => {
    const { session, token } = await kernel.delegateLease({
      sessionId: readBearerToken(context),
      isOwn: true,
      labels,
      contentHashes: contentHashes.map((hash) => toHash(hash, "content_hashes")),
      ...(lease === "" ? {} : { lease: parseLeaseText(lease) }),
      ...(agent === "" ? {} : { agent }),
      ...(workingDirectory === "" ? {} : { workingDirectory }),
      ...(seed.length === 0 ? {} : { seed: toHash(seed, "seed") }),
    });
    return {
      sessionId: session.session.id,
      token,
      leaseId: session.lease.id,
      lease: JSON.stringify(leaseToJson(session.lease)),
      expiresAtMs: BigInt(Math.min(session.session.expiresAtMs, session.lease.expiresAtMs)),
    };
  };
}

/** Ends a child lease of the bearer's session. */
export function createReleaseLease(kernel: Kernel): ServiceImpl<typeof KernelService>["releaseLease"] {
  return async ({ leaseId }, context) => {
    const { budgetReturned } = await kernel.releaseLease({ sessionId: readBearerToken(context), leaseId });
    return { budgetReturned: JSON.stringify(budgetReturned) };
  };
}

function readBearerToken(context: HandlerContext): string {
  const caller = context.values.get(callerKey);
  if (caller.kind !== "session") throw new KernelError("INTERNAL", "no session on a method that needs one");
  return caller.sessionId;
}

type LeaseMethods = Pick<ServiceImpl<typeof AdminService>, "getLease" | "revokeLease">;

export function createLeaseMethods(kernel: Kernel): LeaseMethods {
  return {
    getLease: async ({ leaseId }) => ({ lease: toLeaseInfo(await kernel.getLease(leaseId)) }),
    async revokeLease({ leaseId, reason, by }) {
      const { leaseIds, cancelledCalls } = await kernel.revokeLease({ leaseId, reason, by });
      return { leaseIds: [...leaseIds], cancelledCalls };
    },
  };
}

/**
 * Converts an OpenSession request with a parent: omitted fields default to the parent's, and workspace, tenant and user
 * must equal the parent's if given; only the agent's name may differ.
 */
export function toDelegation(request: OpenSessionRequest): Delegation {
  const { parentSessionId, workspace, workingDirectory, tenant, user, agent, seed, lease, ttlMs, adopt, labels } =
    request;
  if (adopt) throw new KernelError("INVALID_INPUT", "`adopt` is for a workspace, and this session has its parent's");
  return {
    sessionId: parentSessionId,
    labels,
    ...(workspace === "" ? {} : { workspace }),
    ...(workingDirectory === "" ? {} : { workingDirectory }),
    ...(tenant === "" ? {} : { tenant }),
    ...(user === "" ? {} : { user }),
    ...(agent === "" ? {} : { agent }),
    ...(seed.length === 0 ? {} : { seed: toHash(seed, "seed") }),
    ...(lease === "" ? {} : { lease: parseLeaseText(lease) }),
    ...(ttlMs === 0n ? {} : { ttlMs: toWholeNumber(ttlMs, "ttl_ms") }),
  };
}
