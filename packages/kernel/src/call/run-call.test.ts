import assert from "node:assert/strict";
import { test } from "node:test";
import { create, ToolRequestSchema } from "@narthex/contracts";
import { createCountingTool, createTestKernel, echoTool, permitAll } from "@narthex/testkit";
import type { StageEvent } from "../ports.ts";
import { STAGES } from "../ports.ts";
import { defineTool } from "../tool/define-tool.ts";

const kinds = (records: { entries: { kind: { case: string | undefined } }[] }[]) =>
  records.map((record) => record.entries.map((entry) => entry.kind.case));

test("a call of an unknown tool records the request and the failure", async () => {
  const { open, records } = await createTestKernel({ tools: [echoTool] });
  const session = await open();
  const result = await session.call("nothing", {});
  assert.equal(result.status, "error");
  const [, last] = await records(session.id);
  assert.deepEqual(kinds([last ?? assert.fail()]), [["toolInvoked", "toolFailed"]]);
});

test("a throw in any stage before invoke is refused and recorded as a refusal", async () => {
  const broken = defineTool({
    name: "broken",
    description: "Its arguments cannot be judged.",
    inputSchema: true,
    tier: "read_only",
    needs: () => {
      throw new Error("secret detail");
    },
    run: () => assert.fail("must not run"),
  });
  const { open, records } = await createTestKernel({ tools: [broken] });
  const session = await open();
  const { response } = await session.call("broken", {});
  assert.equal(response.result.case === "error" && response.result.value.errorCode, "INTERNAL");
  assert.ok(
    !JSON.stringify(response.result.value, (_, value) => (typeof value === "bigint" ? `${value}` : value)).includes(
      "secret detail",
    ),
  );
  const all = await records(session.id);
  assert.deepEqual(kinds(all.slice(1)), [["toolInvoked", "toolFailed"]]);
});

test("a read-only call is one record, in the stated order", async () => {
  const { open, records } = await createTestKernel({ tools: [echoTool] });
  const session = await open();
  const result = await session.call("echo", { b: 1, a: 2 });
  assert.equal(result.status, "success");
  assert.equal(new TextDecoder().decode(result.normalised), '{"a":2,"b":1}');
  const all = await records(session.id);
  assert.deepEqual(kinds(all), [
    ["sessionOpened", "leaseGranted"],
    ["toolInvoked", "capabilityCheck", "policyDecision", "toolStarted", "toolCompleted"],
  ]);
});

test("a call with effects has a durable intent before the tool runs, then its outcome", async () => {
  const seen: number[] = [];
  let size = (): number => 0;
  const counting = createCountingTool("count", async () => void seen.push(size()));
  const { open, records, store } = await createTestKernel({ tools: [counting.tool] });
  size = () => store.size;
  const session = await open();
  const before = store.size;
  await session.call("count", {});
  assert.deepEqual(seen, [before + 1]);
  const all = await records(session.id);
  assert.deepEqual(kinds(all.slice(1)), [
    ["toolInvoked", "capabilityCheck", "policyDecision", "toolStarted"],
    ["toolCompleted"],
  ]);
});

test("a malformed request never reaches a decision", async () => {
  const narrow = defineTool({
    name: "narrow",
    description: "Takes a number.",
    inputSchema: {
      type: "object",
      properties: { n: { type: "integer" } },
      required: ["n"],
      additionalProperties: false,
    },
    tier: "read_only",
    run: ({ n }) => n,
  });
  const policy = permitAll([narrow]);
  let asked = 0;
  const evaluate: typeof policy.evaluate = (request) => {
    asked++;
    return policy.evaluate(request);
  };
  const { kernel, open, records } = await createTestKernel({ tools: [narrow], policy: { ...policy, evaluate } });
  const session = await open();
  for (const input of [{}, { n: "1" }, { n: 1, more: true }, [1], null]) {
    assert.equal((await session.call("narrow", input)).status, "error", JSON.stringify(input));
  }
  const bytes = Buffer.from('{"n": 1, "n": 2}');
  const request = create(ToolRequestSchema, {
    requestId: "twice",
    sessionToken: session.token,
    tool: { case: "call", value: { name: "narrow", input: bytes } },
  });
  const { result } = await kernel.call({ request, door: "test" });
  assert.equal(result.case === "error" && result.value.errorCode, "INVALID_INPUT");
  assert.equal(asked, 0);
  assert.ok(
    !kinds(await records(session.id))
      .flat()
      .includes("policyDecision"),
  );
  assert.equal((await session.call("narrow", { n: 1 })).status, "success");
  assert.equal(asked, 1);
});

test("the observer sees every stage of a call, in order", async () => {
  const events: StageEvent[] = [];
  const { open } = await createTestKernel({
    tools: [echoTool],
    observer: { stage: (event) => void events.push(event) },
  });
  const session = await open();
  await session.call("echo", 1, { requestId: "r1" });
  assert.deepEqual(
    events.map((event) => event.stage),
    [...STAGES, "done"],
  );
  assert.equal(events.at(-1)?.requestId, "r1");
  assert.deepEqual(events.at(-1)?.outcome, { status: "success", code: "" });
  assert.equal(new Set(events.map(({ call }) => call)).size, 1);
});

test("the observer receives the caller's span and the reason of a denial", async () => {
  const events: StageEvent[] = [];
  const { open } = await createTestKernel({
    tools: [echoTool],
    observer: { stage: (event) => void events.push(event) },
  });
  const session = await open({ lease: { tool_patterns: ["other"] } });
  await session.call("echo", 1, { traceParent: "00-1-2-01" });
  assert.deepEqual(events.at(-1)?.outcome, { status: "denied", code: "LEASE_SCOPE" });
  assert.ok(events.every(({ traceParent }) => traceParent === "00-1-2-01"));
});

test("the ledger's records contain no token and no input text", async () => {
  const { open, kernel } = await createTestKernel({ tools: [echoTool] });
  const session = await open();
  await session.call("echo", { password: "correct horse battery staple" });
  const all = await kernel.listRecords({ limit: 100 });
  // As the input, and as the result.
  const kept = all.map(({ content }) => Buffer.from(content).toString("latin1")).join("");
  assert.ok(kept.split("correct horse").length > 2, "neither input nor result is kept as content");
  for (const stored of all) {
    const text = Buffer.from(stored.record).toString("latin1");
    assert.ok(!text.includes(session.token));
    assert.ok(!text.includes("correct horse"));
    assert.ok(!Buffer.from(stored.content).toString("latin1").includes(session.token));
  }
});

test("a hundred concurrent calls each get exactly their own response", async () => {
  const { open } = await createTestKernel({ tools: [echoTool] });
  const session = await open();
  const results = await Promise.all(
    Array.from({ length: 100 }, (_, i) => session.call("echo", { i }, { requestId: `r${i}` })),
  );
  results.forEach((result, i) => {
    assert.equal(result.response.requestId, `r${i}`);
    assert.deepEqual(result.raw, { i });
  });
});
