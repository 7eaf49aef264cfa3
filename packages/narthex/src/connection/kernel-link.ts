import type { McpCaller } from "@narthex/server";
import type { OpenSessionInput } from "./kernel-connection.ts";

/** A session of its own, as its opener knows it. */
export interface SessionCredentials {
  readonly sessionId: string;
  readonly token: string;
}

/** The way to the kernel of a home for as long as that kernel lasts: in this process, or behind its sockets. */
export interface KernelLink {
  /** The command that holds the home. */
  readonly holder: string;
  /** Whether clients may be asked for approvals. */
  readonly elicitation: boolean;
  /** Aborts when the kernel goes, or takes no new calls because it is about to. */
  readonly stopping: AbortSignal;
  /** Whether a kernel that stopped taking calls would say what an answer says. */
  isStopping(): Promise<boolean>;
  /** What to say of a kernel from which no answer of any kind comes for so long; undefined of one that answers. */
  checkUnresponsive(afterMs: number): Promise<string | undefined>;

  openSession(request: OpenSessionInput): Promise<SessionCredentials>;
  /** `open`, `closed`, ...; undefined where nobody has heard of it. */
  findSessionState(sessionId: string): Promise<string | undefined>;
  closeSession(sessionId: string): Promise<void>;
  createCaller(session: SessionCredentials): Promise<McpCaller>;
  /** Tells whenever the tools may have changed. */
  onToolsChanged(listener: () => void): void;
  close(): Promise<void>;
}
