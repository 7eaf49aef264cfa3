import { MAX_ID_LEN, type Rule } from "@narthex/contracts";
import {
  type ApproveAnnotation,
  canBeOverridden,
  nearestName,
  type PolicyRule,
  quoteText,
  splitOverrides,
} from "@narthex/kernel";

const ANNOTATIONS = ["id", "approve", "overrides", "rationale", "message"] as const;
type Annotation = (typeof ANNOTATIONS)[number];

const APPROVE_VALUES = ["human", "console", "always", "none"] as const;
const RATIONALE = /^[A-Z][A-Z0-9_]{0,63}$/;
const CONTROL = /\p{Cc}/u;
const MAX_MESSAGE_LENGTH = 1024;

/** Returns the problem of an annotation, if any. `value` is null for an annotation without a value. */
export function annotationProblem(
  name: string,
  value: unknown,
  effect: "permit" | "forbid",
): { readonly rule: Rule; readonly message: string } | undefined {
  const known = ANNOTATIONS.find((annotation) => annotation === name);
  if (known === undefined) return { rule: "unknown_field", message: unknownAnnotation(name) };
  if (typeof value !== "string") return { rule: "required", message: `@${known} needs a value: @${known}("...")` };
  const message = valueProblem(known, value, effect);
  return message === undefined ? undefined : { rule: "format", message };
}

export function approvalFrom(value: unknown): ApproveAnnotation {
  return APPROVE_VALUES.find((answer) => answer === value) ?? "unstated";
}

/** Returns a problem with the combination of a rule's annotations. */
export function ruleProblem({
  id,
  approve,
  overrides,
}: Pick<PolicyRule, "id" | "approve" | "overrides">): string | undefined {
  if (approve === "always" && !canBeOverridden(id)) {
    return `a rule with @approve("always") needs an @id without a comma and without blanks at its ends, not ${quoteText(id)}`;
  }
  if (overrides.length > 0 && approve !== "none") return '@overrides needs @approve("none") beside it';
  return undefined;
}

/** Returns the ids of the rules that `@overrides` names. */
export function overridesFrom(value: unknown): readonly string[] {
  return typeof value === "string" ? splitOverrides(value) : [];
}

function unknownAnnotation(name: string): string {
  const nearest = nearestName(name, ANNOTATIONS);
  const hint = nearest === undefined ? "" : `; did you mean @${nearest}?`;
  return `${quoteText(`@${name}`)} is not an annotation; allowed are @id, @approve, @overrides, @rationale and @message${hint}`;
}

function valueProblem(name: Annotation, value: string, effect: "permit" | "forbid"): string | undefined {
  switch (name) {
    case "id":
      if (value === "" || value.length > MAX_ID_LEN || CONTROL.test(value)) {
        return `@id must have 1 to ${MAX_ID_LEN} characters, none of them a control character`;
      }
      // SECURITY: `kernel:` ids identify the kernel's own denials in responses and in the ledger.
      return value.startsWith("kernel:") ? "@id must not start with kernel:, which names the kernel itself" : undefined;
    case "approve":
      if (effect === "forbid") return "@approve belongs on a permit: what is forbidden is not asked about";
      return APPROVE_VALUES.some((answer) => answer === value) ? undefined : describeInvalidApprove(value);
    case "overrides":
      if (effect === "forbid") return "@overrides belongs on a permit: a forbid already beats every permit";
      return splitOverrides(value).length > 0 ? undefined : '@overrides must name a rule: @overrides("ID")';
    case "rationale":
      return RATIONALE.test(value) ? undefined : "@rationale must be a code such as WORKSPACE_READ";
    case "message":
      return value === "" || value.length > MAX_MESSAGE_LENGTH || CONTROL.test(value)
        ? `@message must be one line of 1 to ${MAX_MESSAGE_LENGTH} characters`
        : undefined;
  }
}

function describeInvalidApprove(value: string): string {
  const nearest = nearestName(value, APPROVE_VALUES);
  const hint = nearest === undefined ? "" : `; did you mean "${nearest}"?`;
  return `@approve must be "human", "console", "always" or "none", not ${quoteText(value)}${hint}`;
}
