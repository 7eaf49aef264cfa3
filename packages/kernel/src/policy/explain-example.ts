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

/** A call that a policy is tried with: nobody made it, in no session that was ever opened. */
export interface ExampleCall {
  readonly tool: string;
  readonly input: JsonValue;
  readonly labels: readonly string[];
  /** What the session holds besides the default lease. */
  readonly capabilities?: readonly Capability[];
}

/** Says what a policy would answer to examples, with these tools and without a kernel. */
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
