import assert from "node:assert/strict";
import { test } from "node:test";
import { type JsonValue, KernelError } from "@narthex/contracts";
import {
  createCountingTool,
  createMemoryStore,
  createTestKernel,
  echoTool,
  createTestPolicy,
  permitAll,
  type TestKernel,
  type TestSession,
} from "@narthex/testkit";
import type { CallResult } from "../../kernel.ts";
import { createReloadablePolicy, type ReloadablePolicy } from "../../policy/reloadable-policy.ts";
import { defineTool } from "../../tool/define-tool.ts";

function codeOf({ response: { result } }: CallResult): string {
  return result.case === "error" ? result.value.errorCode : `${result.case}`;
}

type Refuse = (session: TestSession, policy: ReloadablePolicy) => Promise<unknown>;

const { tool: countTool } = createCountingTool();
const PERMIT_COUNT = createTestPolicy([{ id: "p", action: "count" }], [countTool]);
const PERMIT_OTHER = createTestPolicy([{ id: "p", action: "other" }], [countTool]);

/** Requests that never start anything, all under the id `r`. */
const REFUSALS: Readonly<Record<string, Refuse>> = {
  "an unknown tool": (session) => session.call("nothing", {}, { requestId: "r" }),
  "other content": (session) => session.call("count", { n: 2 }, { requestId: "r" }),
  "a request that breaks the wire's rules": (session) =>
    session.call("count", { n: 1 }, { requestId: "r", dedupeKey: "k".repeat(300) }),
  "input that is no JSON": (session) => session.call("count", undefined as unknown as JsonValue, { requestId: "r" }),
  "a denial by policy": async (session, policy) => {
    policy.replace(PERMIT_OTHER);
    await session.call("count", { n: 1 }, { requestId: "r" });
    policy.replace(PERMIT_COUNT);
  },
  "a repeat": (session) => session.call("count", { n: 1 }, { requestId: "r" }),
};

test("a refused request does not replace the record of a finished request with the same id", async () => {
  for (const [name, refuse] of Object.entries(REFUSALS)) {
    const counting = createCountingTool();
    const policy = createReloadablePolicy(permitAll([counting.tool]));
    const { open } = await createTestKernel({ tools: [counting.tool], policy });
    const session = await open();
    await session.call("count", { n: 1 }, { requestId: "r" });
    for (let i = 0; i < 2; i++) await refuse(session, policy);
    assert.equal(codeOf(await session.call("count", { n: 1 }, { requestId: "r" })), "success", name);
    assert.equal(counting.count(), 1, name);
  }
});

test("after a restart, a refusal under a finished call's id does not let its effect happen again", async () => {
  for (const [name, refuse] of Object.entries(REFUSALS)) {
    const counting = createCountingTool();
    const store = createMemoryStore();
    const policy = createReloadablePolicy(permitAll([counting.tool]));
    const session = await (await createTestKernel({ tools: [counting.tool], store, policy })).open();
    await session.call("count", { n: 1 }, { requestId: "r" });
    await refuse(session, policy);
    const call = callerOn(await createTestKernel({ tools: [counting.tool], store }), session);
    assert.equal(codeOf(await call("count", { n: 1 }, { requestId: "r" })), "success", name);
    assert.equal(counting.count(), 1, name);
    assert.equal(codeOf(await call("count", { n: 2 }, { requestId: "r" })), "DUPLICATE_REQUEST_ID", name);
  }
});

test("an id under which nothing started is free, before and after a restart", async () => {
  for (const [name, refuse] of Object.entries(REFUSALS)) {
    if (name === "other content" || name === "a repeat") continue;
    for (const restarted of [false, true]) {
      const counting = createCountingTool();
      const store = createMemoryStore();
      const policy = createReloadablePolicy(permitAll([counting.tool]));
      const first = await createTestKernel({ tools: [counting.tool], store, policy });
      const session = await first.open();
      await refuse(session, policy);
      assert.equal(counting.count(), 0);
      const kernel = restarted ? await createTestKernel({ tools: [counting.tool], store }) : first;
      assert.equal(codeOf(await callerOn(kernel, session)("count", { n: 3 }, { requestId: "r" })), "success", name);
    }
  }
});

test("a request served by its dedupe key is also served by its own id", async () => {
  for (const restarted of [false, true]) {
    const counting = createCountingTool();
    const store = createMemoryStore();
    const first = await createTestKernel({ tools: [counting.tool], store });
    const session = await first.open();
    await session.call("count", {}, { requestId: "one", dedupeKey: "k" });
    await session.call("count", {}, { requestId: "two", dedupeKey: "k" });
    const kernel = restarted ? await createTestKernel({ tools: [counting.tool], store }) : first;
    assert.equal(codeOf(await callerOn(kernel, session)("count", {}, { requestId: "two" })), "success");
    assert.equal(counting.count(), 1);
    const other = await callerOn(kernel, session)("count", { n: 2 }, { requestId: "two" });
    assert.equal(codeOf(other), "DUPLICATE_REQUEST_ID");
  }
});

test("a refused call is found by its request id", async () => {
  const { open, kernel } = await createTestKernel({ tools: [echoTool] });
  const session = await open();
  await session.call("nothing", {}, { requestId: "r" });
  assert.equal((await kernel.findCall(session.id, "r"))?.index, kernel.recordCount() - 1);
});

test("keeps ids and keys of any form apart: slashes, line breaks, 256 characters beyond the first plane", async () => {
  const store = createMemoryStore();
  const counting = createCountingTool();
  const first = await createTestKernel({ tools: [counting.tool], store });
  const session = await first.open();
  const ids = [
    "a",
    "a/b",
    "a\nb",
    "/",
    "usage",
    `${session.id}/a`,
    "😀".repeat(256),
    "😁".repeat(256),
    "__proto__",
    "\u00e9",
    "e\u0301",
  ];
  for (const id of ids)
    assert.equal(codeOf(await session.call("count", { id }, { requestId: id, dedupeKey: id })), "success");
  assert.equal(counting.count(), ids.length);
  const call = callerOn(await createTestKernel({ tools: [counting.tool], store }), session);
  for (const id of ids) {
    assert.equal(codeOf(await call("count", { id }, { requestId: id })), "success", id);
    assert.equal(
      codeOf(await call("count", { id }, { requestId: `${id.slice(0, 2)}-new`, dedupeKey: id })),
      "success",
      id,
    );
  }
  assert.equal(counting.count(), ids.length);
});

test("a retryable error of a tool with effects is not kept: the same id and key run again", async () => {
  let calls = 0;
  const limited = defineTool({
    name: "limited",
    description: "Takes one call at a time.",
    inputSchema: true,
    effects: ["artifact"],
    capabilities: [{ kind: "artifact", names: ["*"] }],
    run: async () => {
      if (calls++ === 0)
        throw new KernelError("RATE_LIMITED", "too many calls", { retryAfterMs: 5, changedNothing: true });
      return calls;
    },
  });
  const { open } = await createTestKernel({ tools: [limited] });
  const session = await open();
  const first = await session.call("limited", {}, { requestId: "r", dedupeKey: "k" });
  assert.ok(first.response.result.case === "error" && first.response.result.value.retryable);
  assert.equal(first.response.result.value.effectsPossible, false);
  assert.equal(codeOf(await session.call("limited", {}, { requestId: "r", dedupeKey: "k" })), "success");
});

test("a retryable error of a tool that may have changed something is final", async () => {
  let calls = 0;
  const unsure = defineTool({
    name: "unsure",
    description: "Fails without saying whether it did anything.",
    inputSchema: true,
    effects: ["artifact"],
    capabilities: [{ kind: "artifact", names: ["*"] }],
    run: async () => {
      calls++;
      throw new KernelError("RATE_LIMITED", "too many calls", { retryAfterMs: 5 });
    },
  });
  const { open } = await createTestKernel({ tools: [unsure] });
  const session = await open();
  for (let repeat = 0; repeat < 2; repeat++) {
    const { result } = (await session.call("unsure", {}, { requestId: "r" })).response;
    assert.ok(result.case === "error");
    assert.deepEqual([result.value.retryable, result.value.effectsPossible], [false, true]);
  }
  assert.equal(calls, 1);
});

function callerOn({ kernel }: TestKernel, { token }: TestSession): TestSession["call"] {
  return (tool, input, options = {}) => kernel.callInProcess({ token, tool, input, ...options });
}
