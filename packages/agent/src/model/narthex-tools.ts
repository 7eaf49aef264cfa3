import { checkOptions, type OptionKinds } from "@narthex/kernel";
import { type AiSdkSchema, toAiSdkTools } from "../declare/ai-sdk-tools.ts";
import { createCallLane } from "../run/call-lane.ts";
import type { AgentSession } from "../session/agent-session.ts";
import { listAgentTools } from "../session/agent-tools.ts";
import { executeCall, readCall } from "../session/execute-call.ts";

/** A tool of the AI SDK whose `execute` calls the kernel. */
export interface AiSdkTool {
  readonly description: string;
  readonly inputSchema: AiSdkSchema;
  execute(input: unknown, options: AiSdkCallOptions): Promise<string>;
}

export interface AiSdkCallOptions {
  readonly toolCallId?: string;
  readonly abortSignal?: AbortSignal | undefined;
}

export interface NarthexToolsOptions {
  /** Maximum number of read-only calls that run in parallel. */
  readonly maxParallel?: number;
  readonly approvalWaitMs?: number;
}

const KINDS: OptionKinds<NarthexToolsOptions> = { maxParallel: "amount?", approvalWaitMs: "amount?" };
const MAX_PARALLEL = 8;
const APPROVAL_WAIT_MS = 600_000;

/**
 * The tools of a session for `generateText` and `streamText`. The SDK starts all calls of a step at once; calls that
 * change something nevertheless run one after the other here, in their order.
 */
export function narthexTools(session: AgentSession, options: NarthexToolsOptions = {}): Record<string, AiSdkTool> {
  checkOptions(options, KINDS, "narthexTools");
  const tools = listAgentTools(session);
  const lane = createCallLane(options.maxParallel ?? MAX_PARALLEL);
  const approvalWaitMs = options.approvalWaitMs ?? APPROVAL_WAIT_MS;

  async function execute(name: string, input: unknown, { abortSignal }: AiSdkCallOptions): Promise<string> {
    const call = readCall({ id: "", name, arguments: JSON.stringify(input) ?? "" }, tools);
    if (typeof call === "string") throw failure(call);
    const signal = abortSignal ?? new AbortController().signal;
    const { outcome } = await lane.run(tools.isReadOnly(call), () =>
      executeCall(call, tools, session, { signal, approvalWaitMs }),
    );
    if (outcome.status !== "success") throw failure(outcome.text);
    return outcome.text;
  }

  return Object.fromEntries(
    Object.entries(toAiSdkTools(tools.declared.decls)).map(([name, tool]) => [
      name,
      { ...tool, execute: (input: unknown, call: AiSdkCallOptions) => execute(name, input, call) },
    ]),
  );
}

/** The SDK passes a thrown error to the model, marked as an error. Without a name the message is passed unchanged. */
function failure(text: string): Error {
  return Object.assign(new Error(text), { name: "" });
}
