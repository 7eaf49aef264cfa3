import { isJsonObject, type JsonObject, type JsonValue, KernelError } from "@narthex/contracts";
import type { Capability } from "../capability/capability.ts";
import type { Policy } from "../ports.ts";
import type { RegisteredTool } from "../registry/registry.ts";
import type { LiveSession } from "../session/live-session.ts";
import { logicalTimeMs } from "../session/logical-time.ts";
import type { NarrowedTool } from "../tool/narrow-tool.ts";
import type { DerivedFacts, Tool } from "../tool/tool.ts";
import { type EncodedPolicyRequest, encodePolicyRequest } from "./encode-policy-request.ts";
import { type PolicyTarget, scopesOf, targetsOf } from "./policy-target.ts";
import { PROTECTED_ACTION } from "./protected-action.ts";
import type { CallFacts } from "./request-facts.ts";
import type { RecordShape } from "./schema/cedar-shape.ts";
import { projectInput } from "./schema/project-input.ts";
import { shapeFromJsonSchema } from "./schema/shape-from-json-schema.ts";

/** A call with everything that its policy requests are built from. */
export interface PolicyInput {
  readonly live: LiveSession;
  readonly registered: RegisteredTool;
  readonly facts: NarrowedTool;
  readonly input: JsonValue;
  /** The input with its secrets redacted. */
  readonly recordedInput: JsonValue;
  /**
   * Redacts secrets in the facts that the tool and the kernel derived from the input; undefined if it has no secrets.
   */
  readonly redact: ((facts: JsonObject) => JsonObject) | undefined;
  readonly inputDigest: Uint8Array;
  readonly labels: readonly string[];
  readonly needed: readonly Capability[];
}

/** One policy request to make for a call. */
export interface PolicyCheck {
  readonly action: string;
  readonly target: PolicyTarget;
}

/**
 * Lists all policy requests for a call: one for each path and host, and another for each protected path that is
 * written.
 */
export function listPolicyChecks(call: PolicyInput, isProtected: (path: string) => boolean): PolicyCheck[] {
  const { registered, facts, needed, live } = call;
  const questions: PolicyCheck[] = [];
  for (const target of targetsOf(registered.tool, facts.effects, needed, live.session.workspace)) {
    questions.push({ action: facts.action, target });
    const { path, writes } = target;
    if (writes !== true || path === undefined || path === "." || !isProtected(path)) continue;
    questions.push({ action: PROTECTED_ACTION, target });
  }
  return questions;
}

/**
 * Creates the policy request. Requests about protected paths have the same shape for all tools, without tool-specific
 * facts. Throws POLICY_ERROR if a fact that rules rely on is missing.
 */
export function createPolicyRequest(
  call: PolicyInput,
  { action, target }: PolicyCheck,
  policy: Policy,
): EncodedPolicyRequest {
  const { live, registered, recordedInput } = call;
  const facts = { ...call.facts, action };
  if (action === PROTECTED_ACTION) {
    const { path = ".", writes = true } = target;
    return encodePolicyRequest(live, registered, facts, redacted(call, { ...plainFacts(call), path, writes }), {});
  }
  const visible = policy.visibleInput(action, recordedInput);
  return encodePolicyRequest(live, registered, facts, redacted(call, { ...callFacts(call), ...target }), visible);
}

/**
 * SECURITY: facts are derived from the input that the tool receives and redacted afterwards. So a secret that contains
 * a `;` or a `/` cannot hide from policy that there are two commands or two paths.
 */
function redacted({ redact }: PolicyInput, facts: CallFacts): CallFacts {
  if (redact === undefined) return facts;
  const { inputDigest, labels, calls, time_ms, budget, ...told } = facts;
  return { inputDigest, labels, calls, time_ms, budget, ...redact({ ...told } as JsonObject) };
}

function callFacts(call: PolicyInput): CallFacts {
  const { tool } = call.registered;
  return {
    ...plainFacts(call),
    ...scopesOf(tool, call.needed),
    ...(tool.derived && { derived: derivedFrom(tool, tool.derived, call.input) }),
  };
}

/** The facts that calls of all tools have. */
function plainFacts({ live, inputDigest, labels }: PolicyInput): CallFacts {
  return {
    inputDigest,
    labels,
    calls: live.calls,
    time_ms: logicalTimeMs(live.calls + 1),
    budget: live.account.remaining(),
  };
}

const shapes = new WeakMap<DerivedFacts, RecordShape>();

/**
 * Derives the tool's own facts. A tool author's code may return an invalid value; that is an error, and an error
 * denies. Undeclared facts are dropped.
 *
 * SECURITY: rules were validated against the declared shape. A string in place of a boolean would bypass a rule that
 * forbids by that boolean.
 */
function derivedFrom({ name, source }: Tool, facts: DerivedFacts, input: JsonValue): JsonObject {
  const derived: JsonObject | Promise<unknown> = facts.of(input);
  // A promise holds no facts, so rules that need one would not match.
  if (derived instanceof Promise || !isJsonObject(derived)) {
    throw new KernelError("POLICY_ERROR", `what \`${name}\` says about its arguments is no object`);
  }
  // Tests check the built-in tools against their declared shapes.
  if (source === "builtin") return derived;
  const shape = shapes.get(facts) ?? shapeFromJsonSchema(facts.schema);
  shapes.set(facts, shape);
  return projectInput(derived, shape);
}
