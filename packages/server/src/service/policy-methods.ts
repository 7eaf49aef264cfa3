import type { ServiceImpl } from "@connectrpc/connect";
import { type AdminService, JsonSyntaxError, type JsonValue, KernelError, parseJson, utf8 } from "@narthex/contracts";
import type { HookDecision, Kernel } from "@narthex/kernel";
import { toPolicyInfo } from "./policy-info.ts";

type PolicyMethods = Pick<
  ServiceImpl<typeof AdminService>,
  "explainCall" | "getPolicy" | "recordHookDecision" | "reloadPolicy"
>;

export function createPolicyMethods(
  kernel: Pick<Kernel, "explainCall" | "policyFacts" | "recordHookDecision" | "reloadPolicy">,
): PolicyMethods {
  return {
    getPolicy: () => ({ policy: toPolicyInfo(kernel.policyFacts()) }),
    async explainCall({ tool, version, input, sessionId }) {
      const explanation = await kernel.explainCall({
        tool,
        input: readInput(input),
        ...(version !== "" && { version }),
        ...(sessionId !== "" && { sessionId }),
      });
      return { explanation: JSON.stringify(explanation) };
    },
    async recordHookDecision({ input, answer, ...decision }) {
      // Not validated here: the kernel checks whether it is a valid decision.
      await kernel.recordHookDecision({
        ...decision,
        input: readInput(input),
        answer: answer as HookDecision["answer"],
      });
      return {};
    },
    async reloadPolicy({ by }) {
      const { policy, changed } = await kernel.reloadPolicy(by);
      return { policy: toPolicyInfo(policy), changed };
    },
  };
}

function readInput(text: string): JsonValue {
  try {
    return parseJson(utf8(text));
  } catch (fault) {
    if (!(fault instanceof JsonSyntaxError)) throw fault;
    throw new KernelError("INVALID_INPUT", `the input is no JSON: ${fault.message}`);
  }
}
