import { createServer, type Socket } from "node:net";
import type { Kernel } from "@narthex/kernel";
import { type ByteBudget, getByteBudget, createByteBudget } from "../byte-budget.ts";
import { closeGracefully } from "../close-gracefully.ts";
import { listenUnix } from "../listen-unix.ts";
import { FramedConnection } from "./framed-connection.ts";
import { DEFAULT_FRAMED_LIMITS, type FramedLimits, UNAUTHENTICATED_BYTES } from "./framed-limits.ts";

export interface FramedDoorOptions {
  readonly kernel: Kernel;
  /** Socket path; its directory must have mode 0700. */
  readonly path: string;
  readonly limits?: Partial<FramedLimits>;
  /** The kernel's own by default. */
  readonly budget?: ByteBudget;
}

export interface FramedDoor {
  readonly path: string;
  /** Number of connected clients. */
  readonly connections: number;
  /** Takes no new clients, lets running calls finish for `graceMs`, then cancels them and disconnects. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

const CHECK_INTERVAL_MS = 1000;

/** Opens the framed door: one unix socket, length-prefixed requests and responses. SPEC: docs/formats/wire.md. */
export async function openFramedDoor(options: FramedDoorOptions): Promise<FramedDoor> {
  const { kernel, path } = options;
  const limits: FramedLimits = { ...DEFAULT_FRAMED_LIMITS, ...options.limits };
  const budget = options.budget ?? getByteBudget(kernel);
  const strangersBudget = createByteBudget(UNAUTHENTICATED_BYTES);
  const connections = new Set<FramedConnection>();
  /** Connections that have not sent a valid session token yet, oldest first. */
  const strangers = new Set<FramedConnection>();
  let emptied: (() => void) | undefined;

  const server = createServer({ allowHalfOpen: true }, accept);
  await listenUnix(server, path);
  server.on("error", () => undefined);
  const checks = setInterval(checkTimeouts, Math.min(CHECK_INTERVAL_MS, limits.prefaceTimeoutMs));
  checks.unref();

  function accept(socket: Socket): void {
    // SECURITY: idle unauthenticated clients cannot keep a session's client out; the oldest of them is disconnected.
    if (connections.size >= limits.maxConnections) {
      const [oldest] = strangers;
      kernel.refuse({ door: "framed", reason: "too_many_connections" });
      if (oldest === undefined) {
        socket.destroy();
        return;
      }
      forget(oldest);
      oldest.destroy();
    }
    const connection = new FramedConnection(
      {
        kernel,
        socket,
        limits,
        budget,
        strangers: strangersBudget,
        onAuthenticated: (known) => strangers.delete(known),
        onClosed: forget,
      },
      Date.now(),
    );
    connections.add(connection);
    strangers.add(connection);
  }

  function forget(connection: FramedConnection): void {
    strangers.delete(connection);
    connections.delete(connection);
    if (connections.size === 0) emptied?.();
  }

  function checkTimeouts(): void {
    const nowMs = Date.now();
    for (const connection of connections) connection.checkTimeouts(nowMs);
  }

  async function close({ graceMs = 0 }: { readonly graceMs?: number } = {}): Promise<void> {
    const closed = new Promise<void>((resolve) => server.close(() => resolve()));
    for (const connection of connections) connection.end();
    await closeGracefully({
      graceMs,
      finished: () => (connections.size === 0 ? Promise.resolve() : new Promise((resolve) => (emptied = resolve))),
      cancel: () => connections.forEach((connection) => connection.cancel()),
    });
    for (const connection of connections) connection.destroy();
    await closed;
    clearInterval(checks);
  }

  return {
    path,
    get connections() {
      return connections.size;
    },
    close,
  };
}
