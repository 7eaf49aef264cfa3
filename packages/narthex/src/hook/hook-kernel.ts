import type { CallExplanation } from "@narthex/kernel";
import type { KernelConnection } from "../connection/kernel-connection.ts";
import { openJsonExchange } from "../connection/json-exchange.ts";
import { findAdminToken, findSockets } from "../connection/kernel-files.ts";
import { CommandError } from "../terminal/command-error.ts";

/** The kernel methods that a hook uses. */
export interface HookKernel extends Pick<KernelConnection, "explainCall" | "recordHookDecision"> {
  listSessions(query: { readonly all: boolean; readonly limit: number }): Promise<readonly HookSession[]>;
}

export interface HookSession {
  readonly sessionId: string;
  readonly agent: string;
  readonly workspace: string;
  readonly parentSessionId: string;
  readonly openedAtMs: bigint;
}

const SERVICE = "/narthex.v1.AdminService";

/** A connection to the kernel that runs. */
export interface OpenedHookKernel {
  ask<T>(use: (kernel: HookKernel) => Promise<T>): Promise<T>;
  close(): void;
}

/**
 * Connects to the kernel that runs on this home; resolves with undefined if none runs.
 *
 * The client waits for every hook response, so this loads neither the HTTP client nor the message schemas.
 */
export async function openHookKernel(home: string): Promise<OpenedHookKernel | undefined> {
  const { services } = await findSockets(home);
  const exchange = await openJsonExchange(services);
  if (exchange === undefined) return undefined;
  return {
    async ask(use) {
      const token = await findAdminToken(home);
      return use(
        createHookKernel(async (method, message) => {
          const path = `${SERVICE}/${method}`;
          const { status, body } = await exchange.post({ path, token, body: JSON.stringify(message) });
          if (status !== 200) throw errorIn(status, body);
          return JSON.parse(body) as unknown;
        }),
      );
    },
    close: exchange.close,
  };
}

function createHookKernel(ask: (method: string, message: object) => Promise<unknown>): HookKernel {
  return {
    async listSessions(query) {
      const { sessions = [] } = (await ask("ListSessions", query)) as ListedSessions;
      return sessions.map(({ sessionId, agent = "", workspace = "", parentSessionId = "", openedAtMs = "0" }) => {
        return { sessionId, agent, workspace, parentSessionId, openedAtMs: BigInt(openedAtMs) };
      });
    },
    async explainCall({ tool, version = "", input, sessionId = "" }) {
      const answer = await ask("ExplainCall", { tool, version, input: JSON.stringify(input), sessionId });
      const { explanation } = answer as { readonly explanation: string };
      return JSON.parse(explanation) as CallExplanation;
    },
    async recordHookDecision({ input, ...decision }) {
      await ask("RecordHookDecision", { ...decision, input: JSON.stringify(input) });
    },
  };
}

/** In the protocol's JSON form: empty fields are left out, and 64-bit numbers are strings. */
interface ListedSessions {
  readonly sessions?: readonly {
    readonly sessionId: string;
    readonly agent?: string;
    readonly workspace?: string;
    readonly parentSessionId?: string;
    readonly openedAtMs?: string;
  }[];
}

interface ErrorBody {
  readonly message?: string;
  /** The kernel's own error is a detail of the protocol's error. */
  readonly details?: readonly { readonly debug?: { readonly errorCode?: string } }[];
}

function errorIn(status: number, body: string): CommandError {
  const { message, details = [] } = JSON.parse(body) as ErrorBody;
  const code = details.map(({ debug }) => debug?.errorCode).find((errorCode) => errorCode !== undefined);
  return new CommandError(code ?? "KERNEL_UNREACHABLE", message ?? `the kernel answered with HTTP status ${status}`);
}
