import assert from "node:assert/strict";
import { test } from "node:test";
import type { CallExplanation, RuleFinding } from "@narthex/kernel";
import { createTestKernel, echoTool } from "@narthex/testkit";
import { createAgentSession } from "./agent-session.ts";
import { findNearestRules } from "./find-nearest-rules.ts";

const rule = (id: string, more: Partial<RuleFinding> = {}): RuleFinding => ({
  id,
  effect: "permit",
  verdict: "almost",
  because: ['when {\n  context.path like "docs/*"\n}'],
  file: "a.cedar",
  line: 1,
  ...more,
});

/** What a model is told where this is what rules say. */
async function told(...rules: RuleFinding[]): Promise<readonly string[]> {
  const question = { action: "echo", path: "", host: "", allowed: false, approve: "none", always: [], rules } as const;
  const explanation: CallExplanation = { answer: "deny", code: "X", message: "", missing: [], questions: [question] };
  const { kernel, open } = await createTestKernel({ tools: [echoTool] });
  const session = { ...createAgentSession(kernel, await open()), explain: () => Promise.resolve(explanation) };
  return findNearestRules(session, "echo", {});
}

test("suggests nothing that a rule forbids, or whose rule cannot be evaluated", async () => {
  assert.deepEqual(await told(rule("docs"), rule("never", { effect: "forbid", verdict: "matched" })), []);
  assert.deepEqual(await told(rule("docs"), rule("broken", { effect: "forbid", verdict: "error" })), []);
});

test("tells the model the nearest rules, each once and in one line", async () => {
  const near = rule("docs");
  const others = ["b", "c", "d"].map((id) => rule(id, { because: [`context.path == "${"x".repeat(1000)}"`] }));
  const lines = await told(near, near, rule("far", { effect: "forbid" }), ...others);
  assert.equal(lines[0], 'Rule docs would allow it if this held: when { context.path like "docs/*" }');
  assert.equal(lines.length, 3);
  for (const line of lines) assert.ok(line.length < 400 && !line.includes("\n"));
});

test("names no rule whose condition other arguments could not meet", async () => {
  const fixed = [
    'when { context.effects.isEmpty() && context.tier == "read_only" }',
    'when { context.effects.containsAny(["net_read"]) }',
    'when { context.labels.contains("secret") && context.path like "a" }',
    'when { principal == Agent::"other" }',
  ].map((because, at) => rule(`fixed-${at}`, { because: [because] }));
  const both = rule("both", { because: ['when { context.path like "docs/*" }', "unless { context.calls > 3 }"] });
  const host = rule("host", { because: ['when { context has host && context.host == "a.example" }'] });
  assert.deepEqual(await told(...fixed, both, host), [
    'Rule host would allow it if this held: when { context has host && context.host == "a.example" }',
  ]);
});

test("reports a denial without an explanation if it has none", async () => {
  const { kernel, open } = await createTestKernel({ tools: [echoTool] });
  const failing = { ...createAgentSession(kernel, await open()), explain: () => Promise.reject(new Error("no")) };
  assert.deepEqual(await findNearestRules(failing, "echo", {}), []);
});
