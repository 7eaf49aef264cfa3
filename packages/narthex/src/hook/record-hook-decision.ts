import type { HookDecision } from "@narthex/kernel";
import type { HookCall, HookVerdict } from "./hook-call.ts";
import type { HookKernel } from "./hook-kernel.ts";

/** INVARIANT: a response is sent only after this: if the decision cannot be recorded, the call is denied. */
export async function recordHookDecision(
  kernel: Pick<HookKernel, "recordHookDecision">,
  { client, event, toolName, input, conversation }: HookCall,
  { answer, code, ruleIds }: HookVerdict,
  about: Pick<HookDecision, "workspace" | "sessionId" | "decidedAs">,
): Promise<void> {
  await kernel.recordHookDecision({ client, event, toolName, input, conversation, answer, code, ruleIds, ...about });
}
