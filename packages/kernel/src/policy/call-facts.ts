import { isJsonObject, type JsonObject, type JsonValue, KernelError } from "@narthex/contracts";
import type { Capability } from "../capability/capability.ts";
import type { LiveSession } from "../session/live-session.ts";
import { logicalTimeMs } from "../session/logical-time.ts";
import type { Tool } from "../tool/tool.ts";
import { scopesOf } from "./policy-target.ts";
import type { CallFacts } from "./question-facts.ts";

/** What policy is told about. */
export interface AskedCall {
  readonly live: LiveSession;
  readonly tool: Tool;
  readonly input: JsonValue;
  readonly inputDigest: Uint8Array;
  readonly labels: readonly string[];
  readonly needed: readonly Capability[];
}

/** What a policy is told about a call, whatever path or host it is about. */
export function callFacts(asked: AskedCall): CallFacts {
  const { tool, input, needed } = asked;
  return {
    ...plainFacts(asked),
    ...scopesOf(tool, needed),
    ...(tool.derived && { derived: derivedFrom(tool, tool.derived.of(input)) }),
  };
}

/** Of these, what it is told about the call of any tool. */
export function plainFacts({ live, inputDigest, labels }: AskedCall): CallFacts {
  return {
    inputDigest,
    labels,
    calls: live.calls,
    time_ms: logicalTimeMs(live.calls + 1),
    budget: live.account.remaining(),
  };
}

/** Whoever writes tools may return nonsense; that is an error, and an error denies. */
function derivedFrom({ name }: Tool, derived: JsonObject): JsonObject {
  if (isJsonObject(derived)) return derived;
  throw new KernelError("POLICY_ERROR", `what \`${name}\` says about its arguments is no object`);
}
