import assert from "node:assert/strict";
import { test } from "node:test";
import { createTestKernel } from "@narthex/testkit";
import type { Capability } from "../capability/capability.ts";
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

test("a running call is decided again once, and both decisions are recorded", async () => {
  const { result, decisions } = await learn(1);
  assert.equal(result.status, "success");
  assert.equal(decisions, 2);
});

test("a call that would be decided a third time ends, and is not", async () => {
  const { result, decisions } = await learn(2);
  assert.match(errorOf(result).message, /changed more than once/);
  assert.equal(decisions, 2);
});

test("a call that is decided again needs no second budget", async () => {
  const { open } = await createTestKernel({ tools: [learning(1)] });
  const capabilities: readonly Capability[] = [{ kind: "db_read", names: ["*"] }];
  const session = await open({ lease: { capabilities, budgets: { calls: 1, wall_ms: 1000 } } });
  assert.equal((await session.call("learn", {})).status, "success");
});
