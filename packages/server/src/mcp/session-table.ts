import { isKernelError, parseToken } from "@narthex/contracts";
import { HttpRefusal } from "./http-refusal.ts";
import { createMcpSession, type McpSession, type McpSessionOptions } from "./mcp-session.ts";
import type { McpSource } from "./mcp-source.ts";

/** State of the sessions that are used over HTTP, shared by all their requests. */
export interface SessionTable {
  /** Throws for an invalid session token. */
  find(token: string): Promise<{ readonly sessionId: string; readonly session: McpSession }>;
  /** False only for a session that is known to have ended: an unreachable kernel ends no session. */
  isOpen(token: string): Promise<boolean>;
  /** The remembered sessions, by id. */
  list(): readonly (readonly [string, McpSession])[];
}

export function createSessionTable(
  source: Pick<McpSource, "authenticate" | "requireOpen" | "createCaller">,
  options: Omit<McpSessionOptions, "caller">,
  { maxSessions }: { readonly maxSessions: number },
): SessionTable {
  /** Least recently used first. */
  const sessions = new Map<string, McpSession>();

  return {
    /** SECURITY: a session is only reachable with its own token. */
    async find(token) {
      if (parseToken(token) === undefined) {
        throw new HttpRefusal(401, "TOKEN_INVALID", "send `Authorization: Bearer TOKEN` with a session's token");
      }
      const sessionId = await source.authenticate(token);
      const caller = sessions.get(sessionId)?.caller ?? (await source.createCaller(token));
      // A concurrent request of the same session may have created it already.
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
