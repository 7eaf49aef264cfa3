import { createMongoAbility, subject } from "@casl/ability";
import {
  type CedarValueJson,
  type EntityJson,
  isAuthorized,
  policyToJson,
  preparsePolicySet,
  statefulIsAuthorized,
} from "@cedar-policy/cedar-wasm/nodejs";
import type { JsonObject } from "@narthex/contracts";
import { newEnforcer, newModel } from "casbin";
import type { CedarRequest } from "../../../packages/kernel/src/policy/cedar/cedar.ts";
import { compileCedar } from "../../../packages/kernel/src/policy/cedar/compile-cedar.ts";
import type { SampleRule } from "./sample-rules.ts";

/** Whether a request is allowed. */
export type Decide = (request: CedarRequest) => boolean;

export function openCompiled(rules: readonly SampleRule[]): Decide {
  const policies = rules.map((rule) => {
    const read = policyToJson(cedarText(rule));
    if (read.type === "failure") throw new Error(read.errors[0]?.message);
    return { id: rule.id, json: read.json as unknown as JsonObject };
  });
  const { engine, unsupported } = compileCedar(policies);
  if (engine === undefined) throw new Error(unsupported.message);
  return (request) => engine.evaluate(request).allowed;
}

export function openWasm(rules: readonly SampleRule[]): Decide {
  const policies = { staticPolicies: textsOf(rules) };
  return (request) => judge(isAuthorized({ ...asCedar(request), policies }));
}

/** The same with rules that were parsed beforehand. */
export function openPreparsed(rules: readonly SampleRule[]): Decide {
  const preparsedPolicySetId = `bench ${rules.length}`;
  const loaded = preparsePolicySet(preparsedPolicySetId, { staticPolicies: textsOf(rules) });
  if (loaded.type === "failure") throw new Error(loaded.errors[0]?.message);
  return (request) => judge(statefulIsAuthorized({ ...asCedar(request), preparsedPolicySetId }));
}

const CASBIN_MODEL = `
[request_definition]
r = act, ctx
[policy_definition]
p = act, cond, eft
[policy_effect]
e = some(where (p.eft == allow)) && !some(where (p.eft == deny))
[matchers]
m = (p.act == "*" || r.act == p.act) && eval(p.cond)
`;

export async function openCasbin(rules: readonly SampleRule[]): Promise<Decide> {
  const enforcer = await newEnforcer(newModel(CASBIN_MODEL));
  await enforcer.addFunction("startsWith", (text: string, start: string) => text.startsWith(start));
  await enforcer.addFunction("contains", (list: readonly string[], item: string) => list.includes(item));
  await enforcer.addPolicies(
    rules.map(({ action, casbin, isForbid }) => [action, casbin || "true", isForbid ? "deny" : "allow"]),
  );
  return ({ action, context }) => enforcer.enforceSync(action.id, context);
}

/** The last rule that fits wins there: forbids come after the permits. */
export function openCasl(rules: readonly SampleRule[]): Decide {
  const ordered = [...rules.filter(({ isForbid }) => !isForbid), ...rules.filter(({ isForbid }) => isForbid)];
  const ability = createMongoAbility(
    ordered.flatMap(({ action, casl, isForbid }) =>
      casl.map((conditions) => ({
        action: action === "*" ? "manage" : action,
        subject: "Call",
        inverted: isForbid,
        ...(Object.keys(conditions).length === 0 ? {} : { conditions }),
      })),
    ),
  );
  // A copy, because the subject's type is written onto the object.
  return ({ action, context }) => ability.can(action.id, subject("Call", { ...context }));
}

function cedarText({ isForbid, action, cedar }: SampleRule): string {
  const scope = action === "*" ? "action" : `action == Action::"${action}"`;
  const condition = cedar === "" ? "" : ` when { ${cedar} }`;
  return `${isForbid ? "forbid" : "permit"}(principal, ${scope}, resource)${condition};`;
}

function textsOf(rules: readonly SampleRule[]): Record<string, string> {
  return Object.fromEntries(rules.map((rule) => [rule.id, cedarText(rule)]));
}

function asCedar({ principal, action, resource, context, entities }: CedarRequest) {
  return {
    principal,
    action,
    resource,
    context: context as Record<string, CedarValueJson>,
    entities: entities as unknown as EntityJson[],
  };
}

function judge(answer: ReturnType<typeof isAuthorized>): boolean {
  if (answer.type === "failure" || answer.response.diagnostics.errors.length > 0) throw new Error("cedar-wasm failed");
  return answer.response.decision === "allow";
}
