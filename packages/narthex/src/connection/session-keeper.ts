import { KernelError } from "@narthex/contracts";
import type { OpenSessionInput } from "./kernel-connection.ts";
import type { KernelLink, SessionCredentials } from "./kernel-link.ts";
import { createLinkedSession, type LinkedSession } from "./linked-session.ts";
import type { LinkTimeouts } from "./link-timeouts.ts";

/** Moves one session from kernel to kernel. */
export interface SessionKeeper {
  /** Opens the session at the first kernel, and resumes it at every later one. */
  connect(link: KernelLink): Promise<LinkedSession>;
  /** Returns a notice, once, if the session was replaced by another one. */
  takeNotice(): string | undefined;
}

export interface SessionKeeperOptions {
  readonly request: OpenSessionInput;
  /** Opens another session if the store has lost this one; otherwise it stays lost. */
  readonly renew: boolean;
  readonly times: LinkTimeouts;
}

export function createSessionKeeper({ request, renew, times }: SessionKeeperOptions): SessionKeeper {
  let session: SessionCredentials | undefined;
  let notice: string | undefined;

  /**
   * SECURITY: a session that ended stays ended, whichever kernel serves: a new one is opened only if the store does not
   * know the session at all. Otherwise a crash would restore permissions that a user had revoked.
   */
  async function canContinue(link: KernelLink): Promise<boolean> {
    if (session === undefined) return false;
    return !renew || (await link.findSessionState(session.sessionId)) !== undefined;
  }

  return {
    async connect(link) {
      const kept = (await canContinue(link)) ? session : undefined;
      const own = kept ?? (await link.openSession(request));
      try {
        const caller = await link.createCaller(own);
        if (kept === undefined && session !== undefined) notice = describeNewSession(session, own);
        session = own;
        return createLinkedSession(link, own, caller, times);
      } catch (error) {
        if (kept === undefined) await link.closeSession(own.sessionId).catch(() => undefined);
        throw error;
      }
    },
    takeNotice() {
      const taken = notice;
      notice = undefined;
      return taken;
    },
  };
}

function describeNewSession(before: SessionCredentials, now: SessionCredentials): string {
  return (
    `This answer comes from a new session, ${now.sessionId}: the kernel's store no longer has ${before.sessionId}. ` +
    "Results, approvals and jobs of that session are not known here."
  );
}

/** Throws the error that a kernel reports for a session that is not open. */
export function requireOpenState(state: string | undefined): void {
  if (state === "open") return;
  const code = state === "closed" || state === "expired" || state === "quarantined" ? state : "unknown";
  throw new KernelError(CODES[code], `the session is ${code}`);
}

const CODES = {
  closed: "SESSION_CLOSED",
  expired: "SESSION_EXPIRED",
  quarantined: "SESSION_QUARANTINED",
  unknown: "SESSION_UNKNOWN",
} as const;
