import type { HookDecision } from "@narthex/kernel";
import type { HookCall, HookVerdict } from "./hook-call.ts";
import type { HookKernel } from "./hook-kernel.ts";

/** INVARIANT: an answer leaves only after this: where the record cannot be made, the call is refused. */
export async function recordHookDecision(
  kernel: Pick<HookKernel, "recordHookDecision">,
  { client, event, toolName, input, conversation }: HookCall,
  { answer, code, ruleIds }: HookVerdict,
  about: Pick<HookDecision, "workspace" | "sessionId" | "decidedAs">,
): Promise<void> {
  await kernel.recordHookDecision({ client, event, toolName, input, conversation, answer, code, ruleIds, ...about });
}
