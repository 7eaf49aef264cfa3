import { create, createId, type JsonValue, ToolRequestSchema } from "@narthex/contracts";
import { findCallOptionFaults } from "./find-call-option-faults.ts";
import type {
  ApprovalRequest,
  CallExplanation,
  CallResult,
  InProcessCall,
  Kernel,
  SafetyTier,
  Tool,
  ToolDeclaration,
} from "@narthex/kernel";

/** The part of a session that an agent needs. */
export interface AgentSession {
  readonly id: string;
  /**
   * Finds the session in the kernel, which may have been restarted since it was opened. Throws a KernelError with a
   * SESSION_* code.
   */
  authenticate(): Promise<void>;
  /** The tools that its lease and the policy could permit, and that this host can run. */
  listTools(): readonly AgentTool[];
  /** Never rejects: a denial or an error is an ordinary response. Aborting the signal cancels the call. */
  call(tool: string, input: JsonValue, options?: AgentCallOptions): Promise<AgentCallResponse>;
  /** The decision that a call would get now, and the reasons for it. */
  explain(tool: string, input: JsonValue): Promise<CallExplanation>;
  /** The pending approval requests of this session: now, and again after each change, until the signal aborts. */
  watchApprovalRequests(signal: AbortSignal): AsyncIterable<readonly ApprovalRequest[]>;
}

export interface AgentTool {
  readonly declaration: ToolDeclaration;
  /** The highest tier of a call with this input. Only used to decide which calls can run in parallel. */
  tierOf(input: JsonValue): SafetyTier;
}

/** A session in the kernel's own process, with the full call results that are available there. */
export interface InProcessSession extends AgentSession {
  call(tool: string, input: JsonValue, options?: SessionCallOptions): Promise<CallResult>;
}

export type SessionCallOptions = Omit<InProcessCall, "token" | "tool" | "input" | "faults">;
export type AgentCallOptions = Pick<InProcessCall, "requestId" | "signal" | "timeoutMs">;
export type AgentCallResponse = Pick<CallResult, "requestId" | "response">;

type SessionKernel = Pick<
  Kernel,
  "authenticate" | "listTools" | "call" | "callInProcess" | "explainCall" | "watchApprovals"
>;

/** The door's name in the ledger. */
const DOOR = "in_process";

/** States in which every call of a tool fails. */
const UNUSABLE: ReadonlySet<string> = new Set(["quarantined", "disabled"]);

/** Creates a session of a kernel in this process. */
export function createAgentSession(
  kernel: SessionKernel,
  { id, token }: { readonly id: string; readonly token: string },
): InProcessSession {
  /** Cancels the call on abort. The signal alone would only stop waiting, while the call and its effects continue. */
  async function callUntil(signal: AbortSignal, call: InProcessCall & { requestId: string }): Promise<CallResult> {
    const cancel = (): void => void kernel.call({ request: toCancelRequest(token, call.requestId), door: DOOR });
    signal.addEventListener("abort", cancel, { once: true });
    try {
      return await kernel.callInProcess(signal.aborted ? { ...call, signal } : call);
    } finally {
      signal.removeEventListener("abort", cancel);
    }
  }

  return {
    id,
    authenticate: async () => void (await kernel.authenticate(token)),
    listTools: () =>
      kernel
        .listTools({ sessionId: id, allVersions: false })
        .filter(({ state }) => !UNUSABLE.has(state))
        .map(({ declaration }) => ({ declaration, tierOf: (input) => tierOf(declaration, input) })),
    call(tool, input, given) {
      if (given === undefined) return kernel.callInProcess({ token, tool, input });
      const faults = findCallOptionFaults(given);
      if (faults !== undefined) return kernel.callInProcess({ token, tool, input, faults });
      const { signal, ...options } = given;
      // The kernel then creates the request id; it draws random bytes for many ids at once.
      if (signal === undefined) return kernel.callInProcess({ ...options, token, tool, input });
      return callUntil(signal, { ...options, requestId: options.requestId ?? newRequestId(), token, tool, input });
    },
    explain: (tool, input) => kernel.explainCall({ tool, input, sessionId: id }),
    async *watchApprovalRequests(signal) {
      for await (const { open } of kernel.watchApprovals(signal))
        yield open.filter(({ sessionId }) => sessionId === id);
    },
  };
}

function newRequestId(): string {
  return createId("req", (length) => crypto.getRandomValues(new Uint8Array(length)));
}

function toCancelRequest(token: string, requestId: string) {
  const tool = { case: "cancel", value: { requestId } } as const;
  return create(ToolRequestSchema, { requestId: newRequestId(), sessionToken: token, tool });
}

/**
 * A kernel in this process lists the tool itself, which can narrow its declaration for an input. If narrowing fails,
 * the declared tier is used; the kernel will refuse the call.
 */
function tierOf(declaration: ToolDeclaration, input: JsonValue): SafetyTier {
  if (!isTool(declaration)) return declaration.tier;
  try {
    return declaration.narrow?.(input).tier === "read_only" ? "read_only" : declaration.tier;
  } catch {
    return declaration.tier;
  }
}

function isTool(declaration: ToolDeclaration): declaration is Tool {
  return "run" in declaration;
}
