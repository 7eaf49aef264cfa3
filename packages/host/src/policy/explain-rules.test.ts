import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import { explainRules } from "./explain-rules.ts";
import { load, requestFor, TEST_SCHEMA } from "./test-policy.ts";

async function explain(text: string, action: string, more: JsonObject = {}) {
  const findings = await explainRules(await load(text), TEST_SCHEMA, requestFor(action, more));
  return findings.map(({ id, effect, verdict, because }) => ({ id, effect, verdict, because }));
}

test("a rule about something else is not told", async () => {
  const text =
    '@id("a") permit(principal, action == Action::"git_log", resource);\n@id("b") permit(principal == Agent::"x", action, resource);';
  assert.deepEqual(await explain(text, "echo"), []);
});

test("of a rule that almost matched, the conditions that failed are told", async () => {
  const text =
    '@id("w") permit(principal, action == Action::"file_write", resource) when { context.path like "docs/*" && context.writes && context.calls < 2 } unless { context.labels.contains("secret") };';
  assert.deepEqual(await explain(text, "file_write", { input: { path: "x" } }), [
    {
      id: "w",
      effect: "permit",
      verdict: "almost",
      because: ['when { context.path like "docs/*" }', "when { context.calls < 2 }"],
    },
  ]);
  const [finding] = await explain(text, "file_write", {
    input: { path: "x" },
    path: "docs/a",
    calls: 0,
    labels: ["secret"],
  });
  assert.match(finding?.because.join() ?? "", /^unless \{.*"secret".*\}$/);
});

test("a rule that matched says so, a forbid as well as a permit", async () => {
  const text =
    '@id("p") permit(principal, action in Action::"git", resource);\n@id("f") forbid(principal, action == Action::"git_push", resource) when { context.writes };';
  assert.deepEqual(await explain(text, "git_push"), [
    { id: "p", effect: "permit", verdict: "matched", because: [] },
    { id: "f", effect: "forbid", verdict: "matched", because: [] },
  ]);
});

test("a condition that guards another is the one that failed", async () => {
  const text =
    '@id("s") permit(principal, action == Action::"file_write", resource) when { context.input has size && context.input.size < 10 };';
  const [finding] = await explain(text, "file_write", { input: { path: "x" } });
  assert.equal(finding?.verdict, "almost");
  assert.deepEqual(finding?.because.length, 1);
  assert.match(finding?.because[0] ?? "", /has/);
});

test("an error is told as one", async () => {
  const text = '@id("e") permit(principal, action, resource) when { context.calls + 9007199254740991 * 2000 > 1 };';
  const [finding] = await explain(text, "echo");
  assert.equal(finding?.verdict, "error");
  assert.match(finding?.because[0] ?? "", /overflow/);
});

test("says which value of the call a condition turns down, and not the whole list", async () => {
  const text = [
    '@id("l") permit(principal, action, resource) when { ["secret", "internal"].containsAll(context.labels) };',
    '@id("n") permit(principal, action, resource) when { context.labels.containsAny(["secret", "internal"]) };',
    '@id("e") permit(principal, action, resource) when { context.labels.isEmpty() };',
    '@id("t") permit(principal, action, resource) when { context.tier == "privileged" };',
    '@id("u") permit(principal, action, resource) unless { context.labels.contains("untrusted") };',
    '@id("k") permit(principal, action, resource) when { context.tier like "priv*" };',
    '@id("o") permit(principal, action, resource) when { context.calls < 0 };',
  ].join("\n");
  const request = requestFor("echo", { labels: ["untrusted"] });
  const findings = await explainRules(await load(text), TEST_SCHEMA, request);
  assert.deepEqual(Object.fromEntries(findings.map(({ id, unmet = [] }) => [id, unmet.join()])), {
    l: "`untrusted` is not in its list of 2",
    n: "labels has none of `secret`, `internal`",
    e: "labels is not empty: `untrusted`",
    t: "tier is `side_effecting`, not `privileged`",
    u: "it does not apply when labels has `untrusted`",
    k: "tier `side_effecting` is not like `priv*`",
    o: "when { context.calls < 0 }",
  });
});
