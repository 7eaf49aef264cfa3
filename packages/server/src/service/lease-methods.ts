import type { HandlerContext, ServiceImpl } from "@connectrpc/connect";
import { type AdminService, KernelError, type KernelService, type OpenSessionRequest } from "@narthex/contracts";
import { type Delegation, type Kernel, leaseToJson } from "@narthex/kernel";
import { callerKey } from "./authorization.ts";
import { toLeaseInfo } from "./lease-info.ts";
import { parseLeaseText } from "./lease-text.ts";
import { toHash, toWholeNumber } from "./wire-values.ts";

/** Splits a session's own lease: the bearer's, whatever else the request says. */
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

/** Ends a lease that was split off the bearer's own. */
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

/** OpenSession with a parent: what it leaves out is the parent's, and what it says must be too, but for the agent. */
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
