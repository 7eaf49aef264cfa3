import assert from "node:assert/strict";
import { test } from "node:test";
import { createMemoryContentStore, createTestKernel, echoTool } from "@narthex/testkit";
import { verifyStore } from "../testing/verify-store.ts";

const SECRET = "newAAbbccddeeffZZZ99tok";

test("redacts a secret in a hook's input of any length, and the ledger verifies", async () => {
  const contentStore = createMemoryContentStore();
  const { kernel, store, records } = await createTestKernel({
    tools: [echoTool],
    contentStore,
    redactors: [{ secrets: [SECRET], replacement: "[secret site]" }],
  });
  const hook = {
    client: "claude-code",
    event: "PreToolUse",
    toolName: "Bash",
    conversation: "",
    workspace: "/workspace",
    sessionId: "",
    decidedAs: ["shell_exec"],
    answer: "ask",
    code: "",
    ruleIds: [],
  } as const;
  for (const filling of ["", "x".repeat(100_000)]) {
    await kernel.recordHookDecision({ ...hook, input: { command: `echo ${SECRET} ${filling}` } });
  }
  await kernel.recordHookDecision({ ...hook, toolName: `mcp__${SECRET}`, input: SECRET });
  const kinds = (await records("system")).flatMap(({ entries }) => entries.map(({ kind }) => kind.case));
  assert.equal(kinds.filter((kind) => kind === "hookDecided").length, 3);
  await verifyStore(store, contentStore);
});
