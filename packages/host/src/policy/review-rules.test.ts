import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { policySchema, type VariantTool } from "@narthex/kernel";
import { findImpossibleRules } from "./impossible-rules.ts";
import { loadPolicySet } from "./load-policy-set.ts";
import { reviewRules } from "./review-rules.ts";

const PLAIN = { version: "1.0.0", source: "embedder", isolation: "inline", determinism: "external" } as const;
const TOOLS: readonly VariantTool[] = [
  { ...PLAIN, name: "look", tier: "read_only", effects: [] },
  { ...PLAIN, name: "wire", tier: "side_effecting", effects: [] },
  { ...PLAIN, name: "save", tier: "side_effecting", effects: ["fs_write"] },
  { ...PLAIN, name: "root", tier: "privileged", effects: [] },
  // Says of each call what it does.
  { ...PLAIN, name: "vary", tier: "privileged", effects: ["fs_read", "net_write"], narrow: () => ({}) },
];
const capabilities = [{ kind: "fs_write", prefixes: ["/"] }] as const;
const SCHEMA = policySchema(TOOLS.map(({ name }) => ({ declaration: { name, capabilities, inputSchema: {} } })));

const DEFAULT =
  '@id("quiet") permit(principal, action, resource) when { context.effects.isEmpty() && context.tier == "read_only" };';
const asks = (scope: string, conditions = "", approve = "human"): string =>
  `@id("asks") @approve("${approve}") permit(${scope}) ${conditions};`;
const about = (tool: string): string => `principal, action == Action::"${tool}", resource`;

async function loaded(rules: readonly string[]) {
  return loadPolicySet([{ name: "p.cedar", text: rules.join("\n") }], SCHEMA);
}

/** What is said of these rules, without their places. */
async function remarks(...rules: string[]): Promise<string[]> {
  return reviewRules(await loaded(rules), SCHEMA, TOOLS).map(({ violation }) => violation.message);
}

describe("a rule that asks", () => {
  test("is reported if a rule that does not ask permits whatever it does", async () => {
    const wide = (condition: string) => `@id("wide") permit(principal, action, resource) ${condition};`;
    for (const rules of [
      [asks(about("look")), DEFAULT],
      [asks(about("wire")), wide("")],
      [asks(about("wire"), 'when { context.path like "a*" && context.calls > 3 }'), wide("when { context.calls > 3 }")],
      [asks(about("wire"), "unless { context.writes || context.calls > 3 }"), wide("unless { context.writes }")],
      [asks(about("wire"), 'when { context.path == "docs/a" }'), wide('when { context.path like "docs/*" }')],
      [asks(about("save"), ""), wide('when { ["fs_write", "fs_read"].containsAll(context.effects) }')],
      [
        asks('principal == Agent::"a", action, resource is Workspace'),
        wide('when { principal in Agent::"a" }').replace('wide")', 'wide") @approve("none")'),
      ],
      [asks(about("look"), "", "console"), wide('when { action == Action::"look" || context.writes }')],
    ]) {
      const [found = "", ...others] = await remarks(...rules);
      assert.match(
        found,
        /^`asks` never asks: `(?:wide|quiet)` \(p\.cedar:2\) permits the same calls without asking; @app/,
      );
      assert.deepEqual(others, []);
    }
  });

  test("is not reported for what is not proven", async () => {
    const wide = (condition: string, more = "") =>
      `@id("wide") ${more} permit(principal, action, resource) ${condition};`;
    for (const rules of [
      [asks(about("wire")), DEFAULT],
      [asks(about("look"), "", "always"), DEFAULT],
      [asks(about("look"), "", "none"), DEFAULT],
      // Privileged calls are asked about without a word.
      [asks(about("root")), wide("")],
      [asks(about("vary")), wide("")],
      [asks(about("vary")), wide('when { context.tier == "privileged" }', '@approve("none")')],
      [asks(about("wire")), wide("when { context.calls > 3 }")],
      [asks(about("wire"), "when { context.calls > 3 }"), wide("when { context.calls > 4 }")],
      [asks(about("wire"), 'when { context.path like "a*" }'), wide('when { context.path like "*a" }')],
      [asks('principal in User::"a", action == Action::"wire", resource'), wide('when { principal == Agent::"a" }')],
      [asks("principal, action, resource"), wide("", '@approve("console")')],
      // The tool's own facts are of no use for who asks about every tool.
      [asks("principal, action, resource"), DEFAULT],
    ]) {
      assert.deepEqual(await remarks(...rules), [], rules.join("\n"));
    }
  });

  test("is reported for the actions that it names and cannot ask about", async () => {
    const [found = ""] = await remarks(
      asks('principal, action in [Action::"look", Action::"wire"], resource'),
      DEFAULT,
    );
    assert.match(found, /^`asks` never asks about `look`: `quiet` \(p\.cedar:2\) permits/);
  });

  test("always is reported if it is overridden for every call, and what overrides nothing too", async () => {
    const lift = (id: string, scope: string) => `@id("lift") @approve("none") @overrides("${id}") permit(${scope});`;
    const always = asks(about("wire"), "", "always");
    assert.deepEqual(await remarks(always, lift("asks", about("wire"))), [
      "`asks` never asks: `lift` (p.cedar:2) overrides it for every call",
    ]);
    assert.deepEqual(
      await remarks(always, lift("asks", 'principal == Agent::"a", action == Action::"wire", resource')),
      [],
    );
    assert.deepEqual(await remarks(always, lift("ask", about("look"))), [
      "@overrides names `ask`, which is no rule of this set; did you mean `asks`?",
    ]);
    assert.deepEqual(await remarks(DEFAULT, lift("quiet", about("wire"))), [
      '@overrides names `quiet`, which does not say @approve("always"): nothing is lifted',
    ]);
  });
});

test("the rule of an earlier default that permits tools of every tier is a warning", async () => {
  const rule = '@id("without-effects") permit(principal, action, resource) when { context.effects.isEmpty() };';
  const [found, ...others] = reviewRules(await loaded([rule]), SCHEMA, TOOLS);
  assert.match(found?.violation.message ?? "", /^this rule of an earlier default policy permits every tool/);
  assert.deepEqual([found?.isAdvice, others], [true, []]);
  assert.deepEqual(await remarks(rule.replace("isEmpty()", 'isEmpty() && context.tier == "read_only"')), []);
});

test("a rule that no call can match is found, with the condition and what was meant", async () => {
  const impossible = async (scope: string, conditions: string): Promise<string> => {
    const set = await loaded([`@id("never") forbid(${scope}) ${conditions};`]);
    const found = [...set.warnings, ...(await findImpossibleRules(set, SCHEMA, TOOLS))];
    assert.ok(found.length <= 1);
    return found[0]?.message ?? "";
  };
  const all = "principal, action, resource";
  for (const [scope, conditions, says] of [
    [
      all,
      "when { context.calls == 1 && context.calls == 2 }",
      /`never` can never match: `context\.calls == 2` is false/,
    ],
    [all, 'when { context.tier == "readonly" }', /`context\.tier == "readonly"` .*; did you mean `read_only`\?$/],
    [all, 'when { context.effects.contains("netwrite") }', /did you mean `net_write`\?$/],
    [about("wire"), 'when { context.tier == "read_only" }', /can never match/],
    [about("wire"), 'when { context.effects.containsAny(["fs_write"]) }', /can never match/],
    [about("wire"), 'when { action == Action::"look" }', /impossible|never match/],
    [all, "when { context.writes } unless { context.writes || context.calls > 2 }", /can never match/],
    ['principal == Agent::"a", action, resource', 'when { principal == Agent::"b" }', /can never match/],
    [all, "when { false }", /impossible/],
  ] as const) {
    assert.match(await impossible(scope, conditions), says);
  }
  for (const [scope, conditions] of [
    [all, 'when { context.tier == "read_only" }'],
    [about("vary"), 'when { context.effects.isEmpty() && context.tier == "side_effecting" }'],
    [all, 'when { context.calls != 1 && context.path like "a*" && !(context.path like "ab*") }'],
  ] as const) {
    assert.equal(await impossible(scope, conditions), "");
  }
});
