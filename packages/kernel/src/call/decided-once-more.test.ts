import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestKernel, createTestPolicy, permitAll } from "@narthex/testkit";
import type { Capability } from "../capability/capability.ts";
import type { Policy } from "../ports.ts";
import { defineTool } from "../tool/define-tool.ts";
import { errorOf } from "./invoke/testing/hostile-tool.ts";

const TABLE: Capability = { kind: "db_read", names: ["items"] };

/** Learns while it runs what it is about, as often as it is told to. */
const learning = (times: number) =>
  defineTool({
    name: "learn",
    description: "Finds out what it is about.",
    inputSchema: true,
    tier: "read_only",
    effects: ["db_read"],
    capabilities: [{ kind: "db_read", names: [] }],
    run: (_, { decide }) => {
      for (let i = 0; i < times; i++) decide([TABLE]);
      return { learned: times };
    },
  });

async function learn(times: number) {
  const { open, records } = await createTestKernel({ tools: [learning(times)] });
  const session = await open({ lease: { capabilities: [{ kind: "db_read", names: ["*"] }] } });
  const result = await session.call("learn", {});
  const kinds = (await records(session.id)).flatMap(({ entries }) => entries.map(({ kind }) => kind.case));
  return { result, decisions: kinds.filter((kind) => kind === "policyDecision").length };
}

test("a running call is decided again at most once, and both decisions are recorded", async () => {
  const { result, decisions } = await learn(1);
  assert.equal(result.status, "success");
  assert.equal(decisions, 2);
});

test("a call that would need a third decision fails instead", async () => {
  const { result, decisions } = await learn(2);
  assert.match(errorOf(result).message, /changed more than once/);
  assert.equal(decisions, 2);
});

test("a call that is decided again reserves no second budget", async () => {
  const { open } = await createTestKernel({ tools: [learning(1)] });
  const capabilities: readonly Capability[] = [{ kind: "db_read", names: ["*"] }];
  const session = await open({ lease: { capabilities, budgets: { calls: 1, wall_ms: 1000 } } });
  assert.equal((await session.call("learn", {})).status, "success");
});

/** Reads where it is told to, and then somewhere else: a link leads there. */
const led = defineTool({
  name: "led",
  description: "Reads a path.",
  inputSchema: { type: "object", properties: { path: { type: "string" }, to: { type: "string" } } } as const,
  tier: "read_only",
  effects: ["fs_read"],
  capabilities: [{ kind: "fs_read", prefixes: [] }],
  needs: ({ path }) => [{ kind: "fs_read", prefixes: [`/workspace/${path}`] }],
  run: ({ to }, { decide }) => {
    decide([{ kind: "fs_read", prefixes: [`/workspace/${to}`] }]);
    return null;
  },
});

test("an approval for a path does not cover a link's target, unless the target needs no approval", async () => {
  const free = { "==": { left: { ".": { left: { Var: "context" }, attr: "path" } }, right: { Value: "free" } } };
  const { open } = await createTestKernel({
    tools: [led],
    policy: createTestPolicy(
      [
        { id: "asks", action: "led", approve: "human" },
        { id: "free", action: "led", approve: "none", when: free },
      ],
      [led],
    ),
    approver: { door: "test", ask: async () => ({ approved: true, approver: "ann" }) },
  });
  const session = await open();
  assert.equal((await session.call("led", { path: "asked", to: "free" })).status, "success");
  const { response } = await session.call("led", { path: "asked", to: "other" });
  assert.ok(response.result.case === "denied");
  assert.equal(response.result.value.rationaleCode, "APPROVAL_UNAVAILABLE");
});

test("a second decision keeps what it does not change from the first", async () => {
  const asked: unknown[] = [];
  const learner = {
    ...learning(1),
    effects: ["db_read", "fs_read"] as const,
    capabilities: [TABLE, { kind: "fs_read", prefixes: [] }] as const,
    needs: () => [{ kind: "fs_read", prefixes: ["/workspace/data.db"] }] as const,
  };
  const sound = permitAll([learner]);
  const policy: Policy = {
    ...sound,
    evaluate(request) {
      asked.push([request.context["path"], request.context["tables"]]);
      return sound.evaluate(request);
    },
  };
  const { open } = await createTestKernel({ tools: [learner], policy });
  const session = await open();
  assert.equal((await session.call("learn", {})).status, "success");
  assert.deepEqual(asked, [
    ["data.db", []],
    ["data.db", ["items"]],
  ]);
});
