import { isIP } from "node:net";
import { KernelError } from "@narthex/contracts";
import type { Kernel, Logger } from "@narthex/kernel";
import { type ByteBudget, getByteBudget } from "../byte-budget.ts";
import { type Console, CONSOLE_PATH, isConsolePath } from "../console/console.ts";
import { serveConsoleLink } from "../console/console-link.ts";
import type { McpHttp } from "../mcp/mcp-door.ts";
import { isMcpMethod, isMcpPath } from "../mcp/mcp-path.ts";
import { LISTEN_BACKLOG, listenUnix } from "../listen-unix.ts";
import type { Authorize } from "./token-scope.ts";
import { createExchanges, rejectExchange } from "./exchanges.ts";
import {
  createHttpListener,
  type HttpListener,
  type NodeRequest,
  type NodeResponse,
  type TlsIdentity,
} from "./http-listener.ts";
import { createLazyDispatch } from "./lazy-dispatch.ts";
import { createStatusPages } from "./status-pages.ts";
import { createRequestGuard, type DoorAddress, pathOf } from "./request-guard.ts";
import { DEFAULT_SERVICE_LIMITS, type ServiceLimits } from "./service-limits.ts";
import type { KernelProcess } from "./process-methods.ts";
import { createSessionAttendance, type SessionAttendance } from "./session-attendance.ts";
import type { ExportLedger } from "./export-stream.ts";
import type { Replay } from "./replay-stream.ts";
import type { Verify } from "./verify-stream.ts";

export type ServiceListen =
  | { readonly host: string; readonly port: number }
  /** A unix socket; its directory must have mode 0700. */
  | { readonly path: string };

export interface ServiceDoorOptions {
  readonly kernel: Kernel;
  readonly listen: ServiceListen;
  readonly authorize: Authorize;
  readonly verify: Verify;
  readonly replay?: Replay | undefined;
  readonly exportLedger?: ExportLedger | undefined;
  /** Required to listen beyond loopback. */
  readonly tls?: TlsIdentity;
  /** Further names by which clients reach this door. */
  readonly hostNames?: readonly string[];
  /** Served on a port; a unix socket creates links to it. */
  readonly console?: { readonly page: Console; createLink(): string | undefined };
  /** Served under `/mcp`. */
  readonly mcp?: McpHttp;
  /** The sessions whose clients are connected, over all doors. */
  readonly attendance?: SessionAttendance;
  readonly process?: KernelProcess | undefined;
  /** Number of connections over all doors; those of this door by default. */
  readonly connections?: () => number;
  readonly limits?: Partial<ServiceLimits>;
  /** The kernel's own by default. */
  readonly budget?: ByteBudget;
  readonly log?: Logger;
}

export interface ServiceDoor {
  /** Includes the port that was actually opened. */
  readonly address: ServiceListen;
  /** Number of connected clients. */
  readonly connections: number;
  /** Takes no new requests, lets running ones finish for `graceMs`, then disconnects. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

const DOOR = "http";

/** Opens the services over Connect, gRPC, gRPC-Web and plain JSON. SPEC: docs/formats/wire.md. */
export async function openServiceDoor(options: ServiceDoorOptions): Promise<ServiceDoor> {
  const { kernel, listen } = options;
  const limits: ServiceLimits = { ...DEFAULT_SERVICE_LIMITS, ...options.limits };
  if (options.tls === undefined) requireLoopback(listen);
  const stopping = new AbortController();
  const dispatch = createLazyDispatch({
    kernel,
    limits,
    authorize: options.authorize,
    verify: options.verify,
    replay: options.replay,
    exportLedger: options.exportLedger,
    log: options.log,
    budget: options.budget ?? getByteBudget(kernel),
    attendance: options.attendance ?? createSessionAttendance(() => kernel, { log: options.log }),
    process: options.process,
    connections: options.connections ?? (() => listener.connections),
    stopping: stopping.signal,
  });
  const listener = await createHttpListener({
    limits,
    ...(options.tls === undefined ? {} : { tls: options.tls }),
    onRequest: receive,
    onRefused: (reason) => kernel.refuse({ door: DOOR, reason }),
  });
  const exchanges = createExchanges(limits.writeTimeoutMs);
  const address = await startListening(listener, listen).catch((error: unknown) => {
    exchanges.drop();
    throw error;
  });
  const { console, mcp } = options;
  const hasPage = console !== undefined && "host" in listen;
  const pages = createStatusPages({
    consolePath: hasPage ? CONSOLE_PATH : undefined,
    isServing: () => !kernel.closing && !stopping.signal.aborted,
  });
  const rejectRequest = createRequestGuard(toDoorAddress(address, options), (method, path) => {
    if (pages.handles(method, path)) return true;
    if (mcp !== undefined && isMcpPath(path)) return isMcpMethod(method);
    return hasPage && method === "GET" && isConsolePath(path);
  });

  function receive(request: NodeRequest, response: NodeResponse): void {
    request.on("error", () => undefined);
    response.on("error", () => undefined);
    const rejection = rejectRequest(request);
    if (rejection !== undefined) {
      kernel.refuse({ door: DOOR, reason: rejection.reason });
      rejectExchange(request, response, rejection.status, rejection.message);
      return;
    }
    const path = pathOf(request);
    if (pages.handles(request.method ?? "", path)) {
      pages.serve(request, response, path);
      return;
    }
    if (stopping.signal.aborted || exchanges.size >= limits.maxRequests) {
      rejectExchange(request, response, 503, stopping.signal.aborted ? "shutting down" : "too many requests at once");
      return;
    }
    const signal = exchanges.begin(response);
    if (mcp !== undefined && isMcpPath(path)) mcp.serve(request, response, signal);
    else if (console !== undefined && isConsolePath(path)) serveConsole(console, request, response, signal);
    else dispatch(request, response, { path, signal });
  }

  function serveConsole(
    { page, createLink }: NonNullable<ServiceDoorOptions["console"]>,
    request: NodeRequest,
    response: NodeResponse,
    exchange: AbortSignal,
  ): void {
    if ("path" in listen) {
      const { authorize } = options;
      serveConsoleLink(request, response, { kernel, authorize, createLink }).catch(() => response.destroy());
      return;
    }
    // A page that stays open must not keep the door from closing.
    const signal = AbortSignal.any([exchange, stopping.signal]);
    page.serve(request, response, { path: pathOf(request), isTls: options.tls !== undefined, signal });
  }

  async function close({ graceMs = 0 }: { readonly graceMs?: number } = {}): Promise<void> {
    stopping.abort();
    mcp?.stop();
    await exchanges.close(listener, graceMs);
  }

  return {
    address,
    get connections() {
      return listener.connections;
    },
    close,
  };
}

/** SECURITY: unencrypted traffic stays on this machine. */
export function requireLoopback(listen: ServiceListen): void {
  if (!("host" in listen) || isLoopback(listen.host)) return;
  throw new KernelError("CONFIG_INVALID", `listening on \`${listen.host}\` needs TLS; use 127.0.0.1 without it`);
}

export async function startListening(listener: HttpListener, listen: ServiceListen): Promise<ServiceListen> {
  const { server } = listener;
  if ("path" in listen) {
    await listenUnix(server, listen.path);
    return listen;
  }
  await new Promise<void>((resolve, reject) => {
    server.once("error", (cause) => reject(cannotListen(listen, cause)));
    server.listen({ host: unbracketed(listen.host), port: listen.port, backlog: LISTEN_BACKLOG }, resolve);
  });
  server.on("error", () => undefined);
  const bound = server.address();
  if (bound === null || typeof bound === "string") throw new KernelError("INTERNAL", "the port is not known");
  return { host: listen.host, port: bound.port };
}

function cannotListen({ host, port }: { readonly host: string; readonly port: number }, cause: Error): KernelError {
  const inUse = "code" in cause && cause.code === "EADDRINUSE";
  const hint = inUse ? "another program uses the port; stop it or choose another" : "choose another address";
  return new KernelError(inUse ? "HOME_BUSY" : "CONFIG_INVALID", `cannot listen on \`${host}:${port}\`: ${hint}`, {
    cause,
  });
}

export function toDoorAddress(
  address: ServiceListen,
  { tls, hostNames = [] }: Pick<ServiceDoorOptions, "tls" | "hostNames">,
): DoorAddress {
  if ("path" in address) return { kind: "unix" };
  const host = unbracketed(address.host);
  const names = [isIP(host) === 6 ? `[${host}]` : host, ...hostNames];
  return { kind: "tcp", isTls: tls !== undefined, port: address.port, names };
}

function isLoopback(host: string): boolean {
  const bare = unbracketed(host);
  return bare === "localhost" || bare === "::1" || (isIP(bare) === 4 && bare.startsWith("127."));
}

function unbracketed(host: string): string {
  return host.startsWith("[") && host.endsWith("]") ? host.slice(1, -1) : host;
}
