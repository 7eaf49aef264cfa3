import { KernelError } from "@narthex/contracts";
import type { Kernel, Logger } from "@narthex/kernel";

/** Tracks the sessions that end with their clients, and which of these clients are connected right now. */
export interface SessionAttendance {
  /** Number of sessions with a connected client. */
  readonly size: number;
  /** Whether no session has a client, and none waits for its client to come back. */
  readonly isEmpty: boolean;
  /** Registers a client that uses the session. Throws SESSION_CLOSED if the session is just being closed. */
  attend(sessionId: string, client: ClientFacts): Attending;
  /** Closes the session unless its client registers in time. */
  expect(sessionId: string, withinMs: number): void;
  /** Returns the PATH of the session's client, or of the client of the nearest ancestor session. */
  findPath(sessionId: string): Promise<string | undefined>;
  /** Stops closing sessions: the kernel is stopping, and clients continue their sessions at the next one. */
  stop(): void;
}

export interface ClientFacts {
  /** Empty if the client did not send it. */
  readonly path: string;
}

export interface Attending {
  /** Called when the client's connection has ended. */
  leave(): void;
}

export interface SessionAttendanceOptions {
  /** Called after every change with the sessions that end with their clients. */
  readonly onChange?: ((sessionIds: readonly string[]) => void) | undefined;
  readonly log?: Logger | undefined;
  /** How long a client may take to come back after a broken connection. */
  readonly returnMs?: number | undefined;
}

type SessionKernel = Pick<Kernel, "getSession" | "closeSession">;

interface Attended {
  /** Number of connections of its client. */
  connections: number;
  path: string;
  timer: NodeJS.Timeout | undefined;
  isClosing: boolean;
}

/** Short, because a live client opens its next connection before it closes the last one. */
const RETURN_MS = 500;
/** Maximum length of a PATH that is used. */
const MAX_PATH_CHARACTERS = 32 * 1024;
/** Larger than the maximum delegation depth of leases. */
const MAX_DEPTH = 32;

export function createSessionAttendance(
  kernel: () => SessionKernel,
  { onChange, log, returnMs = RETURN_MS }: SessionAttendanceOptions = {},
): SessionAttendance {
  const attended = new Map<string, Attended>();
  let isStopped = false;
  const tell = (): void => onChange?.([...attended.keys()]);

  function entryOf(sessionId: string): Attended {
    const known = attended.get(sessionId);
    if (known !== undefined) return known;
    const entry: Attended = { connections: 0, path: "", timer: undefined, isClosing: false };
    attended.set(sessionId, entry);
    tell();
    return entry;
  }

  function expect(sessionId: string, withinMs: number): void {
    const entry = entryOf(sessionId);
    if (isStopped || entry.connections > 0 || entry.isClosing) return;
    clearTimeout(entry.timer);
    entry.timer = setTimeout(() => void close(sessionId, entry), withinMs).unref();
  }

  /** A client that ends gracefully has closed its session before. */
  async function forgetIfOver(sessionId: string, entry: Attended): Promise<void> {
    const state = (
      await kernel()
        .getSession(sessionId)
        .catch(() => undefined)
    )?.session.state;
    if (state === "open" || state === "quarantined" || entry.connections > 0 || isStopped) return;
    clearTimeout(entry.timer);
    if (attended.get(sessionId) === entry && attended.delete(sessionId)) tell();
  }

  async function close(sessionId: string, entry: Attended): Promise<void> {
    if (isStopped) return;
    entry.isClosing = true;
    try {
      // This cancels and records the running calls first.
      await kernel().closeSession(sessionId);
    } catch (fault) {
      const error = fault instanceof Error ? fault.message : String(fault);
      log?.("warn", "the session of a client that left could not be closed", { session: sessionId, error });
    }
    attended.delete(sessionId);
    tell();
  }

  return {
    get size() {
      return attended
        .values()
        .filter(({ connections }) => connections > 0)
        .toArray().length;
    },
    get isEmpty() {
      return attended.size === 0;
    },
    attend(sessionId, { path }) {
      const entry = entryOf(sessionId);
      if (entry.isClosing) throw new KernelError("SESSION_CLOSED", "the session was closed: its client had left");
      clearTimeout(entry.timer);
      entry.connections += 1;
      entry.path = path.length > MAX_PATH_CHARACTERS ? "" : path;
      return {
        leave() {
          entry.connections -= 1;
          void forgetIfOver(sessionId, entry);
          expect(sessionId, returnMs);
        },
      };
    },
    expect,
    async findPath(sessionId) {
      let id = sessionId;
      for (let depth = 0; depth < MAX_DEPTH && id !== ""; depth++) {
        const path = attended.get(id)?.path ?? "";
        if (path !== "") return path;
        id = (await kernel().getSession(id))?.session.parentSessionId ?? "";
      }
      return undefined;
    },
    stop() {
      isStopped = true;
      for (const { timer } of attended.values()) clearTimeout(timer);
    },
  };
}
