import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { defineTool, type Tool } from "@narthex/kernel";
import { createCountingTool, createTestKernel, createWaitingTool, echoTool, permitAll } from "@narthex/testkit";
import type { AgentMessage } from "../model/agent-message.ts";
import { createAgentSession } from "../session/agent-session.ts";
import { runAgent } from "./run-agent.ts";
import { createMemoryTranscript } from "./testing/memory-transcript.ts";
import { resultsIn, runScripted, type Setting } from "./testing/run-scripted.ts";
import { calling, createScriptedModel, saying } from "./testing/scripted-model.ts";

const ASK: AgentMessage = { role: "user", text: "Do it." };

describe("a batch", () => {
  /** A tool whose calls wait for each other: none ends before `together` of them run. */
  function meeting(together: number) {
    let arrived = 0;
    const met = Promise.withResolvers<void>();
    return defineTool({
      name: "meet",
      description: "Meets.",
      inputSchema: true,
      tier: "read_only",
      run: async (input) => {
        if (++arrived === together) met.resolve();
        await met.promise;
        return input;
      },
    });
  }

  /** Tells what ran when. */
  function noting(tier: "read_only" | "side_effecting", log: string[], name: string = tier) {
    return defineTool({
      name,
      description: "Notes.",
      inputSchema: true,
      tier,
      run: async (input) => {
        log.push(`+${String(input)}`);
        await new Promise((resolve) => setImmediate(resolve));
        log.push(`-${String(input)}`);
        return input;
      },
    });
  }

  test("consecutive read-only calls run concurrently, and results keep the order of the calls", async () => {
    const inputs = ["a", "b", "c"].map((input) => ["meet", { input }] as const);
    const { result } = await runScripted([meeting(3)], [calling(...inputs), saying("Done.")]);
    assert.deepEqual(resultsIn((await result).messages), ['"a"', '"b"', '"c"']);
  });

  test("after one that cannot be reported, the others end and are recorded before the run ends", async () => {
    const { tool, started } = createWaitingTool();
    const { transcript, entries } = createMemoryTranscript();
    const calls = calling(["echo", { input: 1 }], ["wait", { input: {} }]);
    const { result } = await runScripted([echoTool, tool], [calls], {
      transcript,
      onEvent: async ({ type }) => {
        if (type !== "result") return;
        await started;
        throw new Error("listener");
      },
    });
    const { end, error } = await result;
    assert.deepEqual([end, error?.message], ["failed", "listener"]);
    assert.deepEqual(
      entries.map((entry) => (entry.type === "result" ? entry.at : entry.type)),
      ["begin", "turn", 0, 1],
    );
  });

  test("runs at most the limit of them at once", async () => {
    const log: string[] = [];
    const inputs = ["a", "b", "c"].map((input) => ["read_only", { input }] as const);
    const { result } = await runScripted([noting("read_only", log)], [calling(...inputs), saying("Done.")], {
      limits: { parallel: 1 },
    });
    await result;
    assert.deepEqual(log, ["+a", "-a", "+b", "-b", "+c", "-c"]);
  });

  test("all other calls run alone and in order", async () => {
    const log: string[] = [];
    const tools = [noting("read_only", log), noting("side_effecting", log)];
    const calls = calling(
      ["side_effecting", { input: "a" }],
      ["side_effecting", { input: "b" }],
      ["read_only", { input: "c" }],
      ["side_effecting", { input: "d" }],
    );
    const { result } = await runScripted(tools, [calls, saying("Done.")]);
    const { messages } = await result;
    assert.deepEqual(log, ["+a", "-a", "+b", "-b", "+c", "-c", "+d", "-d"]);
    assert.deepEqual(resultsIn(messages), ['"a"', '"b"', '"c"', '"d"']);
  });

  test("a tool that narrows itself to reading runs beside others", async () => {
    const met = Promise.withResolvers<void>();
    let running = 0;
    const tool: Tool = {
      ...defineTool({
        name: "git",
        description: "Narrows.",
        inputSchema: { type: "object", properties: { op: { type: "string" } }, required: ["op"] },
        tier: "side_effecting",
        run: async ({ op }) => {
          if (++running === 2) met.resolve();
          await met.promise;
          return op;
        },
      }),
      narrow: (input) => ({ tier: JSON.stringify(input).includes("log") ? "read_only" : "side_effecting" }),
    };
    const { result } = await runScripted(
      [tool],
      [calling(["git", { op: "log" }], ["git", { op: "log" }]), saying("Done.")],
    );
    assert.deepEqual(resultsIn((await result).messages), ['"log"', '"log"']);
  });
});

describe("a call that needs approval", () => {
  /** People can answer from outside. */
  async function opened(answer: "once" | "deny", setting: Setting = {}) {
    const { tool, count } = createCountingTool();
    const kernelOptions = { policy: permitAll([tool], "human"), settings: { approvalWaitMs: 1 } };
    const { kernel, open } = await createTestKernel({ tools: [tool], ...kernelOptions });
    kernel.openApprovalDoor();
    const session = createAgentSession(kernel, await open());
    const asked: string[] = [];
    const result = runAgent({
      session,
      model: createScriptedModel(calling(["count", { input: {} }]), saying("Done.")),
      messages: [ASK],
      ...setting,
      onEvent: async (event) => {
        if (event.type !== "question") return;
        asked.push(event.question.approvalId);
        await kernel.resolveApproval({
          approvalId: event.question.approvalId,
          answer,
          approver: "ann",
          door: "cli",
          ...(answer === "deny" && { reason: "too risky" }),
        });
      },
    });
    return { result: await result, count, asked };
  }

  test("waits for the decision and runs once when approved", async () => {
    const { result, count, asked } = await opened("once");
    assert.equal(result.end, "answered");
    assert.deepEqual(resultsIn(result.messages), ['{"count":1}']);
    assert.deepEqual([count(), asked.length], [1, 1]);
  });

  test("tells the model of a denial and its reason", async () => {
    const { result, count } = await opened("deny");
    assert.match(resultsIn(result.messages)[0] ?? "", /^Denied by rule permit-count \(APPROVAL_DENIED\): too risky\n/);
    assert.equal(count(), 0);
  });

  test("tells the model when no approver is available", async () => {
    const { tool, count } = createCountingTool();
    const kernel = { policy: permitAll([tool], "human") };
    const { result } = await runScripted([tool], [calling(["count", { input: {} }]), saying("Done.")], { kernel });
    assert.match(resultsIn((await result).messages)[0] ?? "", /APPROVAL_UNAVAILABLE/);
    assert.equal(count(), 0);
  });

  test("tells the model after the time-out that the approval is pending", async () => {
    const { tool, count } = createCountingTool();
    const { kernel, open } = await createTestKernel({
      tools: [tool],
      policy: permitAll([tool], "human"),
      settings: { approvalWaitMs: 1 },
    });
    kernel.openApprovalDoor();
    const session = createAgentSession(kernel, await open());
    const model = createScriptedModel(calling(["count", { input: {} }]), saying("Later, then."));
    const { messages, end } = await runAgent({ session, model, messages: [ASK], limits: { approvalWaitMs: 5 } });
    assert.equal(end, "answered");
    assert.match(resultsIn(messages)[0] ?? "", /^APPROVAL_PENDING: [^]*Approval: apr_/);
    assert.equal(count(), 0);
  });
});
