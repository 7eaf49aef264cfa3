import { isKernelError, parseToken } from "@narthex/contracts";
import { HttpRefusal } from "./http-refusal.ts";
import { createMcpSession, type McpSession, type McpSessionOptions } from "./mcp-session.ts";
import type { McpSource } from "./mcp-source.ts";

/** What is kept for the sessions that come over HTTP, by whichever of their requests. */
export interface SessionTable {
  /** Throws for what is no session's token. */
  find(token: string): Promise<{ readonly sessionId: string; readonly session: McpSession }>;
  /** False only for a session that is known to have ended: a kernel that cannot be asked ends none. */
  isOpen(token: string): Promise<boolean>;
  /** Those that are remembered, by their ids. */
  list(): readonly (readonly [string, McpSession])[];
}

export function createSessionTable(
  source: Pick<McpSource, "authenticate" | "requireOpen" | "createCaller">,
  options: Omit<McpSessionOptions, "caller">,
  { maxSessions }: { readonly maxSessions: number },
): SessionTable {
  /** The one used longest ago first. */
  const sessions = new Map<string, McpSession>();

  return {
    /** SECURITY: no session by any other token than its own. */
    async find(token) {
      if (parseToken(token) === undefined) {
        throw new HttpRefusal(401, "TOKEN_INVALID", "send `Authorization: Bearer TOKEN` with a session's token");
      }
      const sessionId = await source.authenticate(token);
      const caller = sessions.get(sessionId)?.caller ?? (await source.createCaller(token));
      // Another request of the same session may have come first.
      const session = sessions.get(sessionId) ?? createMcpSession({ ...options, caller });
      sessions.delete(sessionId);
      sessions.set(sessionId, session);
      const [oldest] = sessions.keys();
      if (sessions.size > maxSessions && oldest !== undefined) sessions.delete(oldest);
      return { sessionId, session };
    },
    isOpen: (token) =>
      source.requireOpen(token).then(
        () => true,
        (fault: unknown) => !isKernelError(fault) || !fault.code.startsWith("SESSION_"),
      ),
    list: () => [...sessions],
  };
}
