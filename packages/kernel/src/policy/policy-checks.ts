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

/** A call as policy is asked about it. */
export interface PolicyInput {
  readonly live: LiveSession;
  readonly registered: RegisteredTool;
  readonly facts: NarrowedTool;
  readonly input: JsonValue;
  /** The same with its secrets taken out. */
  readonly recordedInput: JsonValue;
  /** Takes secrets out of what the tool and the kernel made of the input; undefined where it has no secrets. */
  readonly redact: ((facts: JsonObject) => JsonObject) | undefined;
  readonly inputDigest: Uint8Array;
  readonly labels: readonly string[];
  readonly needed: readonly Capability[];
}

/** One thing that policy is asked about a call. */
export interface PolicyCheck {
  readonly action: string;
  readonly target: PolicyTarget;
}

/** Everything that policy is asked: each path and each host, and each protected path that is written once more. */
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
 * The question itself. About protected paths all tools are asked alike, so what only some have is left out. Throws
 * POLICY_ERROR where what rules rely on is not there.
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
 * SECURITY: facts are made of the input as the tool gets it, and only then lose its secrets. So a secret that holds a
 * `;` or a `/` cannot make policy see one command, or one path, where there are two.
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

/** Of any tool's call. */
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
 * Whoever writes tools may return nonsense; that is an error, and an error denies. What was not declared is left out.
 *
 * SECURITY: rules were checked against the declared shape. Text in the place of a flag would slip past a rule that forbids
 * what the flag says.
 */
function derivedFrom({ name, source }: Tool, facts: DerivedFacts, input: JsonValue): JsonObject {
  const derived: JsonObject | Promise<unknown> = facts.of(input);
  // Of a promise no fact is there, and rules that ask for one would not fit.
  if (derived instanceof Promise || !isJsonObject(derived)) {
    throw new KernelError("POLICY_ERROR", `what \`${name}\` says about its arguments is no object`);
  }
  // What comes with the kernel is held against its shape by tests.
  if (source === "builtin") return derived;
  const shape = shapes.get(facts) ?? shapeFromJsonSchema(facts.schema);
  shapes.set(facts, shape);
  return projectInput(derived, shape);
}
