import type { JsonValue } from "@narthex/contracts";
import type { Capability } from "../capability/capability.ts";
import type { Policy } from "../ports.ts";
import { createRegistry } from "../registry/registry.ts";
import { exampleSession } from "../session/example-session.ts";
import type { LiveSession } from "../session/live-session.ts";
import type { Tool } from "../tool/tool.ts";
import type { CallExplanation } from "./explain.ts";
import { createProtectedPaths } from "./protected-paths.ts";
import { explainCall } from "./explain-call.ts";

/** A hypothetical call to test a policy with. It belongs to no real session. */
export interface ExampleCall {
  readonly tool: string;
  readonly input: JsonValue;
  readonly labels: readonly string[];
  /** Capabilities of the session in addition to the default lease. */
  readonly capabilities?: readonly Capability[];
}

/** Creates a function that explains how the policy decides example calls of these tools. Needs no kernel. */
export function createExampleExplainer(
  policy: Policy,
  tools: readonly Tool[],
  protectedPaths: readonly string[],
): (example: ExampleCall) => Promise<CallExplanation> {
  const registry = createRegistry();
  for (const tool of tools) registry.register(tool);
  const names = registry.list({ allVersions: false }).map(({ tool }) => tool.name);
  const parts = {
    registry,
    policy,
    isProtected: createProtectedPaths(protectedPaths),
    nowMs: () => 0,
    labelsOf: ({ labels }: LiveSession) => labels,
  };
  return ({ tool, input, labels, capabilities }) =>
    explainCall({ tool, input }, exampleSession(names, 0, labels, capabilities), parts);
}
