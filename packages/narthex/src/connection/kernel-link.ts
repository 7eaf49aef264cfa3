import type { McpCaller } from "@narthex/server";
import type { OpenSessionInput } from "./kernel-connection.ts";

/** Credentials of a session, as its opener got them. */
export interface SessionCredentials {
  readonly sessionId: string;
  readonly token: string;
}

/** Link to the kernel of a home for as long as that kernel lasts: in this process, or behind its sockets. */
export interface KernelLink {
  /** Command that holds the home. */
  readonly holder: string;
  /** Whether MCP clients may be asked for approvals. */
  readonly elicitation: boolean;
  /** Aborts when the kernel ends, or takes no new calls because it is about to. */
  readonly stopping: AbortSignal;
  /** Whether the kernel is stopping, so that an error response may be due to that. */
  isStopping(): Promise<boolean>;
  /**
   * Returns a description of the kernel if it sends no response of any kind for `afterMs`; undefined if it responds.
   */
  checkUnresponsive(afterMs: number): Promise<string | undefined>;

  openSession(request: OpenSessionInput): Promise<SessionCredentials>;
  /** Returns `open`, `closed`, ...; undefined if the session is unknown. */
  findSessionState(sessionId: string): Promise<string | undefined>;
  closeSession(sessionId: string): Promise<void>;
  createCaller(session: SessionCredentials): Promise<McpCaller>;
  /** Calls the listener whenever the tools may have changed. */
  onToolsChanged(listener: () => void): void;
  close(): Promise<void>;
}
