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

/** What an agent needs of its session. */
export interface AgentSession {
  readonly id: string;
  /** Finds it in the kernel, which may have been started since it was opened. Throws a KernelError with a SESSION_* code. */
  authenticate(): Promise<void>;
  /** The tools that its lease and the policy could permit, and that this host can run. */
  listTools(): readonly AgentTool[];
  /** Never rejects: a denial or an error is an answer like any other. An abort of the signal cancels the call. */
  call(tool: string, input: JsonValue, options?: AgentCallOptions): Promise<AgentCallResponse>;
  /** What would be said of a call if it came now, and why. */
  explain(tool: string, input: JsonValue): Promise<CallExplanation>;
  /** What people are asked about this session's calls: now, and again after each change, until the signal aborts. */
  watchApprovalRequests(signal: AbortSignal): AsyncIterable<readonly ApprovalRequest[]>;
}

export interface AgentTool {
  readonly declaration: ToolDeclaration;
  /** What a call with this input may do at most. It only says which calls can run side by side. */
  tierOf(input: JsonValue): SafetyTier;
}

/** The same in the kernel's own process, with all that is known of an answer there. */
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

/** As the ledger names it. */
const DOOR = "in_process";

/** No call of one of these could succeed. */
const UNUSABLE: ReadonlySet<string> = new Set(["quarantined", "disabled"]);

/** A session of a kernel in this process. */
export function createAgentSession(
  kernel: SessionKernel,
  { id, token }: { readonly id: string; readonly token: string },
): InProcessSession {
  /** An abort cancels the call: the signal alone would say that nobody waits, and what may have effects would go on. */
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
      // Its id is then made by the kernel, which draws random bytes for many at once.
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
 * What a kernel in this process lists is the tool itself, which can narrow its declaration for some input. A narrowing that
 * fails says nothing: the kernel refuses the call then.
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
