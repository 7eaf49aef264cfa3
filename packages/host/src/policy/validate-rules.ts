import type { ValidationError } from "@cedar-policy/cedar-wasm/nodejs";
import { KernelError, type Violation } from "@narthex/contracts";
import { nearestName, type PolicySchema } from "@narthex/kernel";
import { cedarMessage, cedarOffset } from "./cedar-message.ts";
import type { Cedar } from "./cedar-wasm.ts";
import type { PolicyProblems } from "./policy-problems.ts";
import type { ParsedRule } from "./read-rules.ts";

/** Validates rules against the schema. Errors go to `problems`; warnings are returned. */
export function validateRules(
  cedar: Cedar,
  rules: readonly ParsedRule[],
  schema: PolicySchema,
  problems: PolicyProblems,
): Violation[] {
  const answer = cedar.validate({
    validationSettings: { mode: "strict" },
    // Written by `policySchema`; Cedar validates it again.
    schema: schema.json as never,
    policies: { staticPolicies: Object.fromEntries(rules.map(({ rule }, index) => [index, rule.text])) },
  });
  if (answer.type === "failure") {
    const [first] = answer.errors;
    throw new KernelError("INTERNAL", `Cedar refuses the schema: ${first === undefined ? "" : cedarMessage(first)}`);
  }
  const faulty = new Set(answer.validationErrors.map(({ policyId }) => policyId));
  for (const { place, message } of findings(answer.validationErrors, rules, schema.actions))
    problems.add(place, "format", message);
  // For a rule with errors, Cedar also warns that it can never apply: drop that warning.
  const warnings = answer.validationWarnings.filter(({ policyId }) => !faulty.has(policyId));
  return findings(warnings, rules, schema.actions).map(({ place, message }) => ({
    field: place,
    rule: "format",
    message,
  }));
}

interface Finding {
  readonly place: string;
  readonly message: string;
}

/** Cedar's message for every rule that can never apply, whatever the reason. */
const IMPOSSIBLE = /^policy is impossible/;
const UNKNOWN_ACTION = /^unrecognized action `Action::"([^"`]*)"`/;

/** Merges findings by position, in the order of the rules: a rule for many actions reports its problem once. */
function findings(
  errors: readonly ValidationError[],
  rules: readonly ParsedRule[],
  actions: readonly string[],
): Finding[] {
  const placed = errors.flatMap(({ policyId, error }) => {
    const read = rules[Number(policyId)];
    if (read === undefined) return [];
    const offset = cedarOffset(read.rule.text, error);
    const message = withNearestAction(cedarMessage(error), actions);
    return [{ index: Number(policyId), offset, place: read.placeOf(offset), message }];
  });
  placed.sort(
    (left, right) => left.index - right.index || left.offset - right.offset || (left.message < right.message ? -1 : 1),
  );
  return [...Map.groupBy(placed, ({ place }) => place)].map(([place, all]) => {
    const reasons = all.filter(({ message }) => !IMPOSSIBLE.test(message));
    const [first, ...others] = reasons.length > 0 ? reasons : all;
    const more = others.length > 0 ? ` (and ${others.length} more here)` : "";
    return { place, message: `${first?.message ?? ""}${more}` };
  });
}

/** Replaces Cedar's suggestion, an action of similar length, with the one of the most similar spelling. */
function withNearestAction(message: string, actions: readonly string[]): string {
  const [problem, name = ""] = UNKNOWN_ACTION.exec(message) ?? [];
  if (problem === undefined) return message;
  const nearest = nearestName(name, actions);
  return nearest === undefined
    ? `${problem}; see \`narthex tools list\``
    : `${problem}; did you mean \`Action::"${nearest}"\`?`;
}
