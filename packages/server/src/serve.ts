import { KernelError } from "@narthex/contracts";
import { type Kernel, type Logger, type OptionNames, refuseUnknownOptions } from "@narthex/kernel";
import { type ByteBudget, getByteBudget, createByteBudget } from "./byte-budget.ts";
import { type Console, type ConsoleOptions, createConsole } from "./console/console.ts";
import { openFramedDoor } from "./framed/framed-door.ts";
import type { FramedLimits } from "./framed/framed-limits.ts";
import { createLazyMcpHttp } from "./mcp/lazy-mcp-http.ts";
import type { McpHttp, McpHttpServingOptions } from "./mcp/mcp-door.ts";
import type { KernelProcess } from "./service/process-methods.ts";
import { createSessionAttendance, type SessionAttendance } from "./service/session-attendance.ts";
import type { Authorize } from "./service/token-scope.ts";
import type { TlsIdentity } from "./service/http-listener.ts";
import { openServiceDoor, type ServiceListen } from "./service/service-door.ts";
import type { ServiceLimits } from "./service/service-limits.ts";
import type { ExportLedger } from "./service/export-stream.ts";
import type { Replay } from "./service/replay-stream.ts";
import type { Verify } from "./service/verify-stream.ts";

export interface ServeOptions {
  /** Path of the framed socket; without it, none is opened. */
  readonly framed?: { readonly path: string; readonly limits?: Partial<FramedLimits> };
  /** Addresses of the services; each offers all of them. */
  readonly services?: readonly ServiceListen[];
  readonly serviceLimits?: Partial<ServiceLimits>;
  /** Scopes of tokens other than session tokens. Without it, none exist. */
  readonly authorize?: Authorize;
  /** Verifies the ledger; without it `Verify` fails. */
  readonly verify?: Verify;
  /** Replays recorded sessions; without it `Replay` fails. */
  readonly replay?: Replay;
  /** Exports the ledger as a bundle; without it `ExportLedger` fails. */
  readonly exportLedger?: ExportLedger;
  readonly tls?: TlsIdentity;
  readonly hostNames?: readonly string[];
  /** Serves the web page on the ports among the services. */
  readonly console?: Pick<ConsoleOptions, "version" | "defaultApprover" | "limits">;
  /** Serves MCP under `/mcp` on all service addresses. */
  readonly mcp?: McpHttpServingOptions;
  /** The sessions whose clients are connected; one of its own by default. */
  readonly attendance?: SessionAttendance;
  /** Facts about this process for clients. */
  readonly process?: KernelProcess;
  /** Limit of requests and responses in flight, over all doors; 256 MB by default. */
  readonly bytesInFlight?: number;
  readonly log?: Logger;
}

export interface Serving {
  readonly addresses: {
    /** Path of the framed socket. */
    readonly framed: string | undefined;
    /** In the requested order, with the ports that were actually opened. */
    readonly services: readonly ServiceListen[];
    /** One-time link to the web page, valid only for a short time. */
    readonly consoleLink: string | undefined;
  };
  /** Number of open connections, over all doors. */
  connections(): number;
  /** Closes every door; running calls get `graceMs` to finish. The kernel stays open. */
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

const NAMES: OptionNames<ServeOptions> = {
  framed: true,
  services: true,
  serviceLimits: true,
  authorize: true,
  verify: true,
  replay: true,
  exportLedger: true,
  tls: true,
  hostNames: true,
  console: true,
  mcp: true,
  attendance: true,
  process: true,
  bytesInFlight: true,
  log: true,
};

interface Door {
  readonly connections: number;
  close(options?: { readonly graceMs?: number }): Promise<void>;
}

/** Opens all requested doors to a kernel, or none. */
export async function serve(kernel: Kernel, options: ServeOptions): Promise<Serving> {
  refuseUnknownOptions(options, NAMES, "serve");
  const { framed, services = [], bytesInFlight, log, tls, hostNames, serviceLimits } = options;
  const budget = bytesInFlight === undefined ? getByteBudget(kernel) : createByteBudget(bytesInFlight);
  const doors: Door[] = [];
  const connections = (): number => doors.reduce((sum, door) => sum + door.connections, 0);
  const attendance = options.attendance ?? createSessionAttendance(() => kernel, { log });
  const addresses: ServiceListen[] = [];
  const page = await openConsole(kernel, options);
  const mcp = openMcp(kernel, options, budget);
  const createLink = (): string | undefined => page && createConsoleLink(page, addresses, tls !== undefined);
  try {
    if (framed !== undefined) doors.push(await openFramedDoor({ kernel, budget, ...framed }));
    for (const listen of services) {
      const door = await openServiceDoor({
        kernel,
        listen,
        budget,
        authorize: options.authorize ?? noAuthority,
        verify: options.verify ?? noVerify,
        replay: options.replay,
        exportLedger: options.exportLedger,
        attendance,
        process: options.process,
        connections,
        ...(page === undefined ? {} : { console: { page, createLink } }),
        ...(mcp === undefined ? {} : { mcp }),
        ...(tls === undefined ? {} : { tls }),
        ...(hostNames === undefined ? {} : { hostNames }),
        ...(serviceLimits === undefined ? {} : { limits: serviceLimits }),
        ...(log === undefined ? {} : { log }),
      });
      doors.push(door);
      addresses.push(door.address);
    }
  } catch (fault) {
    await closeAll(doors, {});
    await mcp?.close();
    throw fault;
  }
  return {
    addresses: { framed: framed?.path, services: addresses, consoleLink: createLink() },
    connections,
    async close(closing = {}) {
      attendance.stop();
      await closeAll(doors, closing);
      await mcp?.close();
    },
  };
}

async function openConsole(kernel: Kernel, options: ServeOptions): Promise<Console | undefined> {
  const { console, services = [], log } = options;
  if (console === undefined || !services.some((listen) => "host" in listen)) return undefined;
  return createConsole({ kernel, ...console, ...(log === undefined ? {} : { log }) });
}

function openMcp(kernel: Kernel, { mcp, log }: ServeOptions, budget: ByteBudget): McpHttp | undefined {
  return mcp && createLazyMcpHttp({ kernel, budget, ...mcp, ...(log === undefined ? {} : { log }) });
}

/** SECURITY: the code is in the link's query, which the page removes from view; a GET alone does not use it up. */
function createConsoleLink(page: Console, addresses: readonly ServiceListen[], isTls: boolean): string | undefined {
  const address = addresses.find((listen) => "host" in listen);
  if (address === undefined) return undefined;
  const host = address.host.includes(":") ? `[${address.host.replace(/^\[|\]$/g, "")}]` : address.host;
  return `${isTls ? "https" : "http"}://${host}:${address.port}/console/sign-in?code=${page.createCode()}`;
}

async function closeAll(doors: readonly Door[], options: { readonly graceMs?: number }): Promise<void> {
  await Promise.all(doors.map((door) => door.close(options)));
}

const noAuthority: Authorize = () => Promise.resolve(undefined);

const noVerify: Verify = () =>
  Promise.reject(new KernelError("INTERNAL", "this kernel was opened without a verifier; run `narthex ledger verify`"));
