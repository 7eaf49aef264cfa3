import type { AuthorizationAnswer } from "@cedar-policy/cedar-wasm/nodejs";
import { isKernelError, KernelError } from "@narthex/contracts";
import type { CedarDecision, CedarEngine, CedarRequest, PolicySchema } from "@narthex/kernel";
import { cedarMessage } from "./cedar-message.ts";
import { type Cedar, loadCedar } from "./cedar-wasm.ts";
import type { LoadedRule } from "./read-rules.ts";

export const CEDAR_WASM_ENGINE = "cedar-wasm/4.13.0";

/**
 * Names of Cedar's global slots for parsed sets. A slot is never freed: the next engine to evaluate under a name
 * replaces its content.
 */
export type EngineUse = "decide" | "explain";
const owners = new Map<EngineUse, CedarEngine>();

/**
 * Creates an engine that runs Cedar itself: for sets that the compiled evaluator does not support, and for recomputing
 * decisions. It parses the text of the rules, never the form that the compiled evaluator uses.
 */
export async function createCedarWasmEngine(
  { rules }: { readonly rules: readonly Pick<LoadedRule, "id" | "text">[] },
  schema: PolicySchema,
  use: EngineUse = "decide",
): Promise<CedarEngine> {
  const cedar = await loadCedar();
  const prepare = (): void => {
    const staticPolicies = Object.fromEntries(rules.map(({ text }, index) => [index, text]));
    const answers = [cedar.preparsePolicySet(use, { staticPolicies }), cedar.preparseSchema(use, schema.json as never)];
    for (const answer of answers) {
      if (answer.type === "success") continue;
      const [first] = answer.errors;
      throw new KernelError("POLICY_INVALID", first === undefined ? "Cedar refuses the rules" : cedarMessage(first));
    }
  };
  const idOf = (policyId: string): string => rules[Number(policyId)]?.id ?? policyId;
  const engine: CedarEngine = {
    name: CEDAR_WASM_ENGINE,
    evaluate(request) {
      try {
        if (owners.get(use) !== engine) {
          owners.delete(use);
          prepare();
          owners.set(use, engine);
        }
        return readAnswer(ask(cedar, request, schema, use), idOf);
      } catch (fault) {
        // A request that does not match the schema, or text that is not valid Unicode: no decision, so it is denied.
        return failed(isKernelError(fault) || fault instanceof Error ? fault.message : String(fault));
      }
    },
  };
  return engine;
}

function ask(cedar: Cedar, request: CedarRequest, schema: PolicySchema, use: EngineUse): AuthorizationAnswer {
  const { principal, action, resource, context, entities } = request;
  return cedar.statefulIsAuthorized({
    principal: { ...principal },
    action: { ...action },
    resource: { ...resource },
    // Validated rules cannot refer to anything outside the schema.
    context: schema.visibleContext(action.id, context),
    entities: entities.map(({ uid, attrs, parents }) => ({ uid, attrs, parents: [...parents] })),
    preparsedPolicySetId: use,
    preparsedSchemaName: use,
    validateRequest: true,
  });
}

function readAnswer(answer: AuthorizationAnswer, idOf: (policyId: string) => string): CedarDecision {
  if (answer.type === "failure") {
    const [first] = answer.errors;
    return failed(first === undefined ? "Cedar gave no answer" : cedarMessage(first));
  }
  const { decision, diagnostics } = answer.response;
  const errors = diagnostics.errors.map(({ policyId, error }) => ({
    rule: idOf(policyId),
    message: cedarMessage(error),
  }));
  return {
    allowed: decision === "allow",
    rules: diagnostics.reason.map(idOf).sort(),
    errors: errors.sort((left, right) => (left.rule < right.rule ? -1 : 1)),
  };
}

function failed(message: string): CedarDecision {
  return { allowed: false, rules: [], errors: [{ rule: "", message }] };
}
