import type { HookDecision } from "@narthex/kernel";
import type { KernelConnection } from "../connection/kernel-connection.ts";
import type { HookCall, HookVerdict } from "./hook-call.ts";

/** INVARIANT: an answer leaves only after this: where the record cannot be made, the call is refused. */
export async function recordHookDecision(
  kernel: Pick<KernelConnection, "recordHookDecision">,
  { client, event, toolName, input, conversation }: HookCall,
  { answer, code, ruleIds }: HookVerdict,
  about: Pick<HookDecision, "workspace" | "sessionId" | "decidedAs">,
): Promise<void> {
  await kernel.recordHookDecision({ client, event, toolName, input, conversation, answer, code, ruleIds, ...about });
}
