import { createTestRandom, type TestKernel, type TestSession } from "@narthex/testkit";
import type { CallResult } from "../../kernel.ts";
import type { Delegation } from "../../lease/delegation.ts";
import type { Random } from "../../ports.ts";

export interface DelegatedSession extends TestSession {
  readonly leaseId: string;
}

/** Opens a child session with the parent's token. */
export async function delegate(
  { kernel }: Pick<TestKernel, "kernel">,
  parent: Pick<TestSession, "token">,
  delegation: Omit<Delegation, "token" | "sessionId" | "isOwn"> = {},
): Promise<DelegatedSession> {
  const { session, token } = await kernel.delegateLease({ ...delegation, token: parent.token });
  return {
    id: session.session.id,
    leaseId: session.lease.id,
    token,
    call: (tool, input, call = {}) => kernel.callInProcess({ token, tool, input, ...call }),
  };
}

export function codeOf({ response: { result } }: CallResult): string | undefined {
  if (result.case === "denied") return result.value.rationaleCode;
  return result.case === "error" ? result.value.errorCode : result.case;
}

let kernels = 0;

/** Random source for another kernel on the same store, distinct so that it does not generate the same ids again. */
export function nextRandom(): Random {
  kernels++;
  return createTestRandom(`kernel ${kernels}`);
}
