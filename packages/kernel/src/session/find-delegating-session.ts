import { KernelError } from "@narthex/contracts";
import { checkOptions, type OptionKinds } from "../check-options.ts";
import type { KernelParts } from "../kernel-parts.ts";
import type { DelegatingSession } from "../lease/delegation.ts";
import { requireObject } from "../refuse-unknown-options.ts";
import type { LiveSession } from "./live-session.ts";

const KINDS: OptionKinds<{ readonly sessionId: string }> = { sessionId: "text" };

/**
 * Finds the session that a token authenticates, or that an administrator names. Undefined if the token belongs to no
 * session.
 */
export async function findDelegatingSession(
  asking: DelegatingSession,
  kernel: KernelParts,
): Promise<LiveSession | undefined> {
  requireObject(asking, "a delegation");
  const { token, sessionId } = asking;
  if (token !== undefined) return kernel.sessions.authenticate(token);
  checkOptions({ sessionId }, KINDS, "a delegation without a token");
  const live = await kernel.sessions.find(sessionId);
  if (live !== undefined) return live;
  throw new KernelError("SESSION_UNKNOWN", `there is no session \`${sessionId.slice(0, 80)}\``);
}
