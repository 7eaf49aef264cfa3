import assert from "node:assert/strict";
import { test } from "node:test";
import { create, encode, type JsonValue, type ToolRequest, ToolRequestSchema } from "@narthex/contracts";
import { createCountingTool, createMemoryStore, createTestKernel, createWaitingTool, echoTool } from "@narthex/testkit";
import { RUNS_ALL } from "../../../../test/sampled.ts";
import type { CallResult, InProcessCall, WireCall } from "../kernel.ts";
import { verifyStore } from "../testing/verify-store.ts";

const codeOf = ({ response: { result } }: Pick<CallResult, "response">) =>
  result.case === "error" ? result.value.errorCode : result.case;

function echoRequest(token: string, requestId: string, text: string): ToolRequest {
  const value = { name: "echo", input: Buffer.from(JSON.stringify(text)) };
  return create(ToolRequestSchema, { requestId, sessionToken: token, tool: { case: "call", value } });
}

test("input that is not JSON is INVALID_INPUT with a reason, and the promise never rejects", async () => {
  const cyclic: { self?: unknown } = {};
  cyclic.self = cyclic;
  const inputs: Readonly<Record<string, unknown>> = {
    undefined: undefined,
    bigint: 1n,
    cyclic,
    function: () => 1,
    symbol: Symbol("s"),
    "not a number": { a: Number.NaN },
    "a date": new Date(0),
    "a map": new Map(),
    "half a character": "\ud800",
    "a hole": Object.assign([1], { 2: 3 }),
    "a getter that throws": Object.defineProperty({}, "a", { enumerable: true, get: () => assert.fail("never shown") }),
    "a proxy that throws": new Proxy({}, { ownKeys: () => assert.fail("never shown") }),
    "a revoked proxy": revoked(),
  };
  const { open, store } = await createTestKernel({ tools: [echoTool] });
  const session = await open();
  for (const [name, input] of Object.entries(inputs)) {
    const result = await session.call("echo", input as JsonValue);
    assert.equal(codeOf(result), "INVALID_INPUT", name);
    assert.ok(result.response.result.case === "error" && result.response.result.value.violations.length === 1, name);
    assert.ok(!JSON.stringify(result.response.result.value.message).includes("never shown"), name);
  }
  await verifyStore(store);
});

test("a request that is not a message is INVALID_REQUEST", async () => {
  const { kernel } = await createTestKernel({ tools: [echoTool] });
  const requests: unknown[] = [
    undefined,
    null,
    1,
    "text",
    [],
    {},
    { requestId: 5 },
    { requestId: "r", sessionToken: {} },
  ];
  for (const request of requests) {
    const response = await kernel.call({ request, door: "test" } as WireCall);
    assert.equal(codeOf({ response }), "INVALID_REQUEST");
  }
  const calls = [
    { token: undefined },
    { token: 1 },
    { tool: undefined },
    { tool: 7 },
    { requestId: 9 },
    { dedupeKey: {} },
  ];
  for (const call of calls) {
    const result = await kernel.callInProcess({
      token: "t",
      tool: "echo",
      input: 1,
      ...call,
    } as unknown as InProcessCall);
    assert.equal(codeOf(result), "INVALID_REQUEST");
  }
});

test("a response carries the request's id even if the id itself is rejected", async () => {
  const { kernel, open } = await createTestKernel({ tools: [echoTool] });
  const { token } = await open();
  const requestId = "r".repeat(300);
  const request = echoRequest(token, requestId, "x");
  for (const form of [request, encode(request)]) {
    const response = await kernel.call({ request: form, door: "test" });
    assert.equal(codeOf({ response }), "INVALID_REQUEST");
    assert.equal(response.requestId, requestId);
  }
});

test("changing a message after the call was made has no effect", async () => {
  const { kernel, open } = await createTestKernel({ tools: [echoTool] });
  const { token } = await open();
  const request = echoRequest(token, "r", "before");
  const answer = kernel.call({ request, door: "test" });
  if (request.tool.case === "call") {
    request.tool.value.input.fill(0x20);
    request.tool.value.name = "../../etc/passwd";
  }
  request.requestId = "other";
  request.dedupeKey = "k".repeat(1000);
  const { result, requestId } = await answer;
  assert.equal(requestId, "r");
  assert.equal(result.case === "success" && Buffer.from(result.value.inlineResult).toString(), '"before"');
});

test("changing the input while the call waits has no effect", async () => {
  const { open } = await createTestKernel({ tools: [echoTool] });
  const session = await open();
  const input = { list: [1, 2] };
  const call = session.call("echo", input);
  input.list.push(3);
  assert.equal(Buffer.from((await call).normalised ?? []).toString(), '{"list":[1,2]}');
});

test("input that returns a different value on each read is read once", async () => {
  const { open } = await createTestKernel({ tools: [echoTool] });
  const session = await open();
  let looks = 0;
  const input = {
    get amount() {
      return looks++ === 0 ? 7 : 5000;
    },
  };
  const result = await session.call("echo", input);
  assert.equal(Buffer.from(result.normalised ?? []).toString(), '{"amount":7}');
});

test("a log, observer or failure report that throws does not lose a response", async () => {
  const counting = createCountingTool();
  const fail = () => {
    throw new Error("observer");
  };
  const { open, store } = await createTestKernel({
    tools: [counting.tool, echoTool],
    logger: fail,
    onFailure: fail,
    observer: {
      stage: ({ stage }) => (stage === "record" || stage === "reply" || stage === "done" ? fail() : undefined),
    },
  });
  const session = await open();
  assert.equal(codeOf(await session.call("count", {})), "success");
  store.failWith("the disk is gone");
  assert.equal(codeOf(await session.call("count", {})), "STORE_UNAVAILABLE");
});

test("a closed kernel responds that it is unavailable, and does nothing else", async () => {
  const failures: Error[] = [];
  const { open, kernel, store } = await createTestKernel({
    tools: [echoTool],
    onFailure: (failure) => failures.push(failure),
  });
  const { token } = await open();
  await Promise.all([kernel.close(), kernel.close()]);
  const size = store.size;
  for (const sent of [token, "stranger"]) {
    const response = await kernel.call({ request: encode(echoRequest(sent, "r", "x")), door: "test" });
    assert.equal(codeOf({ response }), "STORE_UNAVAILABLE");
    assert.equal(response.requestId, "r");
  }
  kernel.refuse({ door: "test", reason: "malformed" });
  await assert.rejects(kernel.openSession({ workspace: "/w" }), /shutting down/);
  await kernel.close();
  assert.equal(store.size, size);
  assert.deepEqual(failures, []);
});

test("a closing kernel rejects new calls, lets running calls finish, and cancels the rest", async () => {
  for (const finishes of [true, false]) {
    const waiting = createWaitingTool();
    const hanging = createCountingTool("count", () => new Promise(() => undefined));
    const store = createMemoryStore();
    const { open, kernel, records } = await createTestKernel({ tools: [waiting.tool, hanging.tool, echoTool], store });
    const session = await open();
    const calls = [session.call("wait", {}), ...(finishes ? [] : [session.call("count", {})])];
    await waiting.started;
    const closed = kernel.close({ graceMs: finishes ? 10_000 : 0 });
    assert.equal(codeOf(await session.call("echo", 1)), "STORE_UNAVAILABLE");
    if (finishes) waiting.finish();
    const codes = (await Promise.all(calls)).map(codeOf);
    assert.deepEqual(codes, finishes ? ["success"] : ["CANCELLED", "CANCELLED"]);
    await closed;
    const outcomes = (await records(session.id)).flatMap(({ entries }) => entries.at(-1)?.kind.case ?? []);
    assert.ok(outcomes.includes(finishes ? "toolCompleted" : "toolFailed"));
    await verifyStore(store);
  }
});

test("a call with a past or invalid deadline does not start", async () => {
  const counting = createCountingTool();
  const { open } = await createTestKernel({ tools: [counting.tool] });
  const session = await open();
  for (const timeoutMs of [0, -1, Number.NaN]) {
    assert.equal(codeOf(await session.call("count", {}, { timeoutMs })), "TIMEOUT");
  }
  assert.equal(codeOf(await session.call("count", {}, { signal: AbortSignal.abort() })), "CANCELLED");
  assert.equal(counting.count(), 0);
  assert.equal(codeOf(await session.call("count", {}, { timeoutMs: Number.POSITIVE_INFINITY })), "success");
});

test("a thousand calls leave no listeners on the signal they share", async () => {
  const { open } = await createTestKernel({ tools: [echoTool] });
  const session = await open();
  const { signal } = new AbortController();
  let listeners = 0;
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...given: unknown[]) => {
    listeners++;
    Reflect.apply(addEventListener, signal, given);
  };
  signal.removeEventListener = (...given: unknown[]) => {
    listeners--;
    Reflect.apply(removeEventListener, signal, given);
  };
  for (let i = 0; i < (RUNS_ALL ? 20 : 10); i++) {
    await Promise.all(
      Array.from({ length: 100 }, (_, k) => session.call("echo", k, { signal, requestId: `${i}/${k % 90}` })),
    );
  }
  assert.ok(listeners <= 0);
});

function revoked(): object {
  const { proxy, revoke } = Proxy.revocable({}, {});
  revoke();
  return proxy;
}
