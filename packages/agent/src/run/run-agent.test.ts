import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { KernelError } from "@narthex/contracts";
import { defineTool } from "@narthex/kernel";
import { createCountingTool, createTestPolicy, createWaitingTool, echoTool } from "@narthex/testkit";
import type { ModelEvent } from "../model/model-client.ts";
import type { AgentEvent } from "./agent-run.ts";
import { assertComplete, resultsIn, runScripted } from "./testing/run-scripted.ts";
import { calling, saying, type ScriptedTurn } from "./testing/scripted-model.ts";

const read = defineTool({
  name: "file_read",
  description: "Reads a file.",
  inputSchema: { type: "object", properties: { path: { type: "string" } }, required: ["path"] },
  resultType: "string",
  tier: "read_only",
  price: 5,
  run: ({ path }) => `content of ${path}`,
});

describe("the loop", () => {
  test("calls tools, gives the model their results and ends with its final message", async () => {
    const turns = [calling(["file_read", { path: "a" }]), saying("It says: content of a.")];
    const { model, events, result } = await runScripted([read], turns);
    const { end, text, messages, turns: count } = await result;
    assert.deepEqual([end, text, count], ["answered", "It says: content of a.", 2]);
    assert.deepEqual(model.requests[0]?.tools, ["file_read"]);
    assert.deepEqual(resultsIn(model.requests[1]?.messages ?? []), ["content of a"]);
    assertComplete(messages);
    assert.deepEqual(
      events.map(({ type }) => type),
      ["turn", "usage", "call", "result", "turn", "text", "usage"],
    );
  });

  test("events can be logged: they contain what the model gets, and nothing else of a result", async () => {
    const { events, result } = await runScripted([read], [calling(["file_read", { path: "a" }]), saying("Done.")]);
    await result;
    const logged = events.map((event) => JSON.parse(JSON.stringify(event)) as AgentEvent);
    assert.deepEqual(logged, events);
    const told = logged.find((event) => event.type === "result");
    assert.deepEqual(told?.outcome, {
      status: "success",
      text: "content of a",
      requestId: told?.outcome.requestId,
      cost: 5,
    });
  });

  test("a malformed call goes back to the model, which corrects it", async () => {
    const turns = [
      calling(["file_read", '{"path":']),
      calling(["file_read", { pth: "a" }]),
      calling(["file_read", { path: "a" }]),
      saying("Done."),
    ];
    const { model, result } = await runScripted([read], turns);
    const { end, messages } = await result;
    assert.equal(end, "answered");
    const [first, second, third] = resultsIn(messages);
    assert.match(first ?? "", /^Tool execution failed: the arguments are not valid JSON/);
    assert.equal(
      second,
      "Tool execution failed: missing required field 'path' in arguments\nExpected arguments: { path: string }",
    );
    assert.equal(third, "content of a");
    assert.deepEqual(
      model.requests.map(({ messages: sent }) => resultsIn(sent).length),
      [0, 1, 2, 3],
    );
    assert.deepEqual(
      messages.flatMap((message) => (message.role === "tool" ? [message.isError] : [])),
      [true, true, false],
    );
  });

  test("limits correction attempts: the run ends after the last one", async () => {
    const { model, result } = await runScripted([read], [calling(["file_read", {}])], { limits: { corrections: 2 } });
    const { end, messages } = await result;
    assert.equal(end, "corrections");
    assert.equal(model.requests.length, 3);
    assertComplete(messages);
  });

  test("a well-formed call resets the counter, and several malformed calls in one message count once", async () => {
    const wrong = calling(...Array.from({ length: 10 }, () => ["file_read", {}] as const));
    const right = calling(["file_read", { path: "a" }]);
    const { result } = await runScripted([read], [wrong, wrong, right, wrong, wrong, saying("Done.")], {
      limits: { corrections: 2 },
    });
    assert.equal((await result).end, "answered");
  });

  test("unknown tools count together", async () => {
    let at = 0;
    const { model, result } = await runScripted(
      [read],
      [
        async function* () {
          yield* calling([`invented_${at++}`, {}]);
        },
      ],
      { limits: { corrections: 2 } },
    );
    assert.equal((await result).end, "corrections");
    assert.equal(model.requests.length, 3);
  });

  test("rejects a tool that the session does not list", async () => {
    const { tool, count } = createCountingTool();
    const turns = [calling(["count", { input: {} }]), saying("No.")];
    const { model, result } = await runScripted([read, tool], turns, {
      open: { lease: { tool_patterns: ["file_read"] } },
    });
    const { messages } = await result;
    assert.deepEqual(model.requests[0]?.tools, ["file_read"]);
    assert.match(resultsIn(messages)[0] ?? "", /there is no tool `count` for you[^]*LEASE_SCOPE/);
    assert.equal(count(), 0);
  });

  test("a denial gives the model the rule, the reason and what to do next", async () => {
    const { tool, count } = createCountingTool();
    const policy = createTestPolicy(
      [
        { id: "may-count", action: "count" },
        {
          id: "no-counting",
          action: "count",
          effect: "forbid",
          rationale: "QUIET_HOURS",
          message: "not at night",
          when: { Value: true },
        },
      ],
      [tool],
    );
    const { result } = await runScripted([tool], [calling(["count", { input: {} }]), saying("A pity.")], {
      kernel: { policy },
    });
    const { end, messages } = await result;
    assert.equal(end, "answered");
    assert.match(resultsIn(messages)[0] ?? "", /^Denied by rule no-counting \(QUIET_HOURS\): not at night/);
    assert.equal(count(), 0);
  });

  test("keeps a provider's opaque data with the message", async () => {
    const part = { type: "thinking", thinking: "hm", signature: "s" };
    const turns = [[{ type: "keep", part } as const, ...calling(["echo", { input: 1 }])], saying("Done.")];
    const { model, result } = await runScripted([echoTool], turns);
    await result;
    assert.deepEqual(model.requests[1]?.messages[1], { ...model.requests[1]?.messages[1], kept: [part] });
  });
});

describe("limits", () => {
  const endless = calling(["file_read", { path: "a" }]);

  test("of turns", async () => {
    const { model, result } = await runScripted([read], [endless], { limits: { turns: 4 } });
    const { end, messages } = await result;
    assert.deepEqual([end, model.requests.length], ["turns", 4]);
    assertComplete(messages);
  });

  test("of cost, by the provider's count and the tools' cost; no call runs above it", async () => {
    const counted: ModelEvent[] = [{ type: "usage", inputTokens: 80, outputTokens: 15 }, ...endless];
    const { events, result } = await runScripted([read], [counted], { limits: { cost: 250 } });
    const { end, cost, messages, turns } = await result;
    assert.deepEqual([end, turns, cost], ["cost", 3, 95 + 5 + 95 + 5 + 95]);
    assert.equal(events.filter(({ type }) => type === "call").length, 2);
    assertComplete(messages);
  });

  test("of cost, by a custom price", async () => {
    const counted: ModelEvent[] = [{ type: "usage", inputTokens: 1000, outputTokens: 10 }, ...endless];
    const priceOf = ({ inputTokens, outputTokens }: { inputTokens: number; outputTokens: number }) =>
      inputTokens / 1000 + outputTokens / 10;
    const { result } = await runScripted([read], [counted], { limits: { cost: 9 }, priceOf });
    const { turns, cost } = await result;
    assert.deepEqual([turns, cost], [2, 2 + 5 + 2]);
  });

  test("of cost, also with a provider that reports no usage", async () => {
    const { result } = await runScripted([read], [endless], { limits: { cost: 200 } });
    assert.equal((await result).end, "cost");
  });

  test("an unknown limit is rejected before the model is called", async () => {
    const { model, result } = await runScripted([read], [saying("never")], { limits: { turn: 1 } as object });
    const { end, error } = await result;
    assert.equal(end, "failed");
    assert.match(String(error), /an agent's limits: `turn` is not known; did you mean turns/);
    assert.equal(model.requests.length, 0);
    for (const turns of ["many", Number.NaN, -1, null]) {
      const odd = await runScripted([read], [saying("never")], { limits: { turns } as object });
      assert.match(String((await odd.result).error), /an agent's limits: `turns` must be a number from 0 on/);
      assert.equal(odd.model.requests.length, 0);
    }
  });

  test("of time, even if the model is silent and ignores the signal", async () => {
    const silent: ScriptedTurn = async function* () {
      await new Promise(() => undefined);
      yield* saying("never");
    };
    const { result } = await runScripted([read], [silent], { limits: { timeMs: 5 } });
    assert.equal((await result).end, "time");
  });

  test("of time, also while a tool runs: it is cancelled and has a result", async ({ mock }) => {
    mock.timers.enable({ apis: ["setTimeout"] });
    const { tool, started } = createWaitingTool();
    const { result } = await runScripted([tool], [calling(["wait", { input: {} }])], { limits: { timeMs: 1000 } });
    await started;
    mock.timers.tick(1000);
    const { end, messages } = await result;
    assert.equal(end, "time");
    assert.match(resultsIn(messages)[0] ?? "", /CANCELLED/);
    assertComplete(messages);
  });

  test("of calls in one message: the rest is told to wait", async () => {
    const many = calling(...Array.from({ length: 5 }, (_, at) => ["file_read", { path: `${at}` }] as const));
    const { result } = await runScripted([read], [many, saying("Done.")], { limits: { callsPerTurn: 3 } });
    const results = resultsIn((await result).messages);
    assert.deepEqual(results.slice(0, 3), ["content of 0", "content of 1", "content of 2"]);
    for (const text of results.slice(3)) assert.match(text, /only the first 3 calls/);
  });
});

describe("cancelling", () => {
  test("ends a call with effects too, and the conversation is complete", async () => {
    const started = Promise.withResolvers<void>();
    const aborted = Promise.withResolvers<void>();
    const tool = defineTool({
      name: "work",
      description: "Works.",
      inputSchema: true,
      effects: ["artifact"],
      capabilities: [{ kind: "artifact", names: ["*"] }],
      tier: "side_effecting",
      run: async (_, { signal }) => {
        signal.addEventListener("abort", () => aborted.resolve());
        started.resolve();
        await aborted.promise;
        throw new Error("stopped");
      },
    });
    const cancelling = new AbortController();
    const { result } = await runScripted([tool], [calling(["work", { input: 1 }], ["work", { input: 2 }])], {
      signal: cancelling.signal,
    });
    await started.promise;
    cancelling.abort();
    await aborted.promise;
    const { end, messages } = await result;
    assert.equal(end, "cancelled");
    assert.match(resultsIn(messages)[0] ?? "", /CANCELLED[^]*effects may have happened/);
    assert.match(resultsIn(messages)[1] ?? "", /was not made/);
    assertComplete(messages);
  });

  test("cancelling before the start sends no model request", async () => {
    const { model, result } = await runScripted([read], [saying("Hello.")], { signal: AbortSignal.abort() });
    assert.equal((await result).end, "cancelled");
    assert.equal(model.requests.length, 0);
  });
});

describe("external failures", () => {
  test("a failing model ends the run with its error and the conversation so far", async () => {
    const failing: ScriptedTurn = async function* () {
      yield* saying("Well");
      throw new KernelError("UPSTREAM_ERROR", "overloaded");
    };
    const { result } = await runScripted([read], [calling(["file_read", { path: "a" }]), failing]);
    const { end, error, messages } = await result;
    assert.deepEqual([end, error?.message], ["failed", "overloaded"]);
    assert.deepEqual(resultsIn(messages), ["content of a"]);
  });

  test("a listener that throws ends the run, and every call still has a result", async () => {
    const onEvent = (event: AgentEvent): void => {
      if (event.type === "result") throw new Error("listener");
    };
    const { result } = await runScripted(
      [read],
      [calling(["file_read", { path: "a" }], ["file_read", { path: "b" }])],
      {
        onEvent,
      },
    );
    const { end, error, messages } = await result;
    assert.deepEqual([end, error?.message], ["failed", "listener"]);
    assertComplete(messages);
  });

  test("limits the size of an endless message", async () => {
    const flood: ScriptedTurn = async function* () {
      for (;;) yield* saying("x".repeat(1024 * 1024));
    };
    const { result } = await runScripted([read], [flood], { onEvent: () => undefined });
    const { end, error } = await result;
    assert.ok(end === "failed" && error instanceof KernelError && error.code === "RESOURCE_EXCEEDED");
  });

  test("a truncated message without a call is not taken as the final message", async () => {
    const { result } = await runScripted([read], [[...saying("It sa"), { type: "cut" }]]);
    assert.equal((await result).end, "length");
  });

  test("the last call of a truncated message is not made, as it may be incomplete", async () => {
    const { tool, count } = createCountingTool("delete_all");
    const cut: ModelEvent[] = [
      ...calling(["file_read", { path: "a" }], ["delete_all", { input: {} }]),
      { type: "cut" },
    ];
    const { result } = await runScripted([read, tool], [cut, saying("Shorter, then.")]);
    const { end, messages } = await result;
    assert.equal(end, "answered");
    const [made, notMade] = resultsIn(messages);
    assert.equal(made, "content of a");
    assert.match(notMade ?? "", /length limit in the middle of this call/);
    assert.equal(count(), 0);
  });
});
