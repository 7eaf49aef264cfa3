import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { JsonObject, JsonValue } from "@narthex/contracts";
import { createTestPolicy } from "@narthex/testkit";
import fc from "fast-check";
import { defineTool } from "../tool/define-tool.ts";
import type { CedarRequest } from "./cedar/cedar.ts";
import { createNoPolicy } from "./create-policy.ts";

const tool = defineTool({
  name: "writer",
  description: "Writes.",
  inputSchema: {
    type: "object",
    properties: { path: { type: "string" }, mode: { type: "string" } },
    required: ["path"],
  } as const,
  effects: ["fs_write"],
  capabilities: [{ kind: "fs_write", prefixes: [] }],
  run: () => null,
});

const context: JsonObject = {
  tool: "writer",
  version: "1.0.0",
  source: "embedder",
  isolation: "inline",
  definition_hash: "00",
  input_digest: "00",
  effects: ["fs_write"],
  tier: "side_effecting",
  determinism: "external",
  labels: ["secret"],
  directory: ".",
  calls: 4,
  time_ms: 5,
  budget: {},
  path: "a/b",
  writes: true,
  input: { path: "a/b" },
};

function request(facts: JsonObject): CedarRequest {
  return {
    principal: { type: "Agent", id: "a" },
    action: { type: "Action", id: "writer" },
    resource: { type: "Workspace", id: "/w" },
    context: facts,
    entities: [],
  };
}

const variable = (name: string): JsonValue => ({ ".": { left: { Var: "context" }, attr: name } });
const literal = (value: JsonValue): JsonValue =>
  Array.isArray(value) ? { Set: value.map(literal) } : { Value: value };
const PERMIT = { id: "permit", action: "writer" };

/** Conditions of the kinds that a missing field could satisfy, or take away. */
const plainNames = Object.keys(context).filter((name) => name !== "budget" && name !== "input");
const conditions = fc.constantFrom(...plainNames).chain((name) => {
  const value = literal(context[name] ?? null);
  return fc.constantFrom<JsonValue>(
    { "==": { left: variable(name), right: value } },
    { "!=": { left: variable(name), right: { Value: "something else" } } },
    { "!": { arg: { "!=": { left: variable(name), right: value } } } },
    { has: { left: { Var: "context" }, attr: name } },
    { "!": { arg: { "!": { arg: { has: { left: { Var: "context" }, attr: name } } } } } },
    {
      "&&": {
        left: { has: { left: { Var: "context" }, attr: name } },
        right: { "==": { left: variable(name), right: value } },
      },
    },
  );
});

describe("an attribute missing from a request", () => {
  test("never disables a forbid: a request denied with it is denied without it", () => {
    fc.assert(
      fc.property(conditions, fc.constantFrom(...Object.keys(context)), (when, lost) => {
        const policy = createTestPolicy([PERMIT, { id: "forbid", action: "writer", effect: "forbid", when }], [tool]);
        assert.equal(policy.evaluate(request(context)).allowed, false);
        const { [lost]: _, ...rest } = context;
        assert.equal(policy.evaluate(request(rest)).allowed, false);
      }),
    );
  });

  test("never satisfies a permit", () => {
    for (const lost of Object.keys(context)) {
      const when = { "!": { arg: { has: { left: { Var: "context" }, attr: lost } } } };
      const policy = createTestPolicy([{ ...PERMIT, when }], [tool]);
      const { [lost]: _, ...rest } = context;
      const answer = policy.evaluate(request(rest));
      assert.deepEqual([answer.allowed, answer.rules], [false, []]);
      assert.match(answer.errors[0]?.message ?? "", new RegExp(`\`${lost}\``));
    }
  });

  test("is an error if rules rely on it", () => {
    const policy = createTestPolicy([PERMIT], [tool]);
    assert.throws(() => policy.visibleInput("writer", { mode: "x" }), { code: "POLICY_ERROR" });
    assert.deepEqual(policy.visibleInput("writer", { path: "p", other: 1 }), { path: "p" });
  });
});

test("denies on an error in any rule, where Cedar itself would skip the rule", () => {
  const when = { "==": { left: { ".": { left: variable("input"), attr: "mode" } }, right: { Value: "x" } } };
  const policy = createTestPolicy([PERMIT, { id: "broken", action: "writer", effect: "forbid", when }], [tool]);
  const answer = policy.evaluate(request(context));
  assert.equal(answer.allowed, false);
  assert.deepEqual(
    answer.errors.map(({ rule }) => rule),
    ["broken"],
  );
});

test("denies an action that the policy was not validated with", () => {
  const policy = createTestPolicy([{ id: "all" }], [tool]);
  assert.equal(policy.evaluate(request(context)).allowed, true);
  const other = { ...request(context), action: { type: "Action", id: "other" } };
  assert.equal(policy.evaluate(other).allowed, false);
});

test("without a policy everything is denied with the reason", () => {
  const policy = createNoPolicy("no rules");
  assert.deepEqual(policy.evaluate(request(context)), {
    allowed: false,
    rules: [],
    errors: [{ rule: "", message: "no rules" }],
  });
  assert.equal(policy.couldPermit("writer"), false);
});

test("a session sees the actions that some rule could permit", () => {
  const git = { ...tool, name: "git", actions: ["git_push", "git_log"], action: () => "git_log" };
  const policy = createTestPolicy([{ id: "log", action: "git_log" }], [tool, git]);
  assert.deepEqual(
    ["git_log", "git_push", "writer", "nothing"].map((action) => policy.couldPermit(action)),
    [true, false, false, false],
  );
});
