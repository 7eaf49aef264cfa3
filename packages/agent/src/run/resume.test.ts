import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { ERROR_CODES, type ErrorCode, isKernelError, KernelError } from "@narthex/contracts";
import { defineTool, type Tool } from "@narthex/kernel";
import { createCountingTool, createMemoryStore, createTestKernel, createTestPolicy, permitAll } from "@narthex/testkit";
import type { AgentMessage } from "../model/agent-message.ts";
import { createAgentSession } from "../session/agent-session.ts";
import type { AgentOptions, AgentResult } from "./agent-run.ts";
import { runAgent } from "./run-agent.ts";
import { createMemoryTranscript } from "./testing/memory-transcript.ts";
import { assertComplete, resultsIn } from "./testing/run-scripted.ts";
import { calling, createScriptedModel, saying, type ScriptedTurn } from "./testing/scripted-model.ts";
import type { TranscriptEntry } from "./transcript.ts";

const BEGIN = [{ role: "user", text: "Do it." }] as const;
const WORDS = "the password is swordfish";

/** One session on a kernel that can be started anew. */
async function createStage(tools: readonly Tool[], initial = permitAll(tools)) {
  const store = createMemoryStore();
  const first = await createTestKernel({ tools, store, policy: initial });
  const opened = await first.open();
  let { kernel } = first;
  return {
    opened,
    records: first.records,
    async restart(policy = initial) {
      ({ kernel } = await createTestKernel({ tools, store, policy }));
    },
    close: () => kernel.closeSession(opened.id),
    session: () => createAgentSession(kernel, opened),
    async run(turns: readonly ScriptedTurn[], entries: readonly TranscriptEntry[], more: Partial<AgentOptions> = {}) {
      const { transcript, entries: kept } = createMemoryTranscript(entries);
      const model = createScriptedModel(...turns);
      const session = createAgentSession(kernel, opened);
      const result = await runAgent({ session, model, messages: BEGIN, transcript, ...more });
      return { result, kept, model };
    },
  };
}

function codeOf({ error }: AgentResult): string {
  assert.ok(isKernelError(error), String(error));
  return error.code;
}

describe("a transcript that does not match", () => {
  test("of another session: sends, calls and appends nothing", async () => {
    const { tool, count } = createCountingTool();
    const stage = await createStage([tool]);
    const { kept } = await stage.run([calling(["count", { input: {} }]), saying("Done.")], []);
    const other = await createStage([tool]);
    const entries = kept.map((entry) => (entry.type === "begin" ? { ...entry, sessionId: "ses_other" } : entry));
    const { result, model, kept: after } = await other.run([saying("Done.")], entries.slice(0, 2));
    assert.deepEqual([result.end, codeOf(result)], ["failed", "INVALID_REQUEST"]);
    assert.deepEqual([model.requests.length, after.length, count()], [0, 2, 1]);
  });

  test("of another conversation, or of none", async () => {
    const stage = await createStage([]);
    const { kept } = await stage.run([saying("Done.")], []);
    const { result } = await stage.run([saying("Done.")], kept, { messages: [{ role: "user", text: "Do that." }] });
    assert.equal(codeOf(result), "INVALID_REQUEST");
    assert.equal(codeOf((await stage.run([saying("Done.")], [], { messages: [] })).result), "INVALID_REQUEST");
  });

  test("rejects a conversation with no start, two starts, or a result without a call", async () => {
    const stage = await createStage([createCountingTool().tool]);
    const { kept } = await stage.run([calling(["count", { input: {} }]), saying("Done.")], []);
    const [begin, turn, outcome] = kept;
    assert.ok(begin && turn && outcome?.type === "result");
    const wrong = [
      [turn],
      [begin, begin],
      [begin, outcome],
      [begin, turn, turn],
      [begin, turn, { ...outcome, at: 1 }],
      [begin, turn, { ...outcome, turn: 2 }],
    ];
    for (const entries of wrong) {
      assert.equal(codeOf((await stage.run([saying("Done.")], entries)).result), "CONTENT_DAMAGED");
    }
  });

  test("rejects an invalid price before it makes a transcript unreadable", async () => {
    const stage = await createStage([]);
    const { result, kept } = await stage.run([saying("Done.")], [], { priceOf: () => Number.NaN });
    assert.deepEqual([codeOf(result), kept.length], ["INVALID_REQUEST", 1]);
  });
});

describe("a resumed run", () => {
  const turns = [
    calling(["count", { input: { n: 1 } }], ["count", '{"input":'], ["count", { input: { n: 2 } }]),
    calling(["count", { input: { n: 3 } }]),
    saying("Done."),
  ];

  test("after any entry: makes no call twice, and reaches the same conversation", async () => {
    const length = 1 + (1 + 3) + (1 + 1) + 1;
    for (let cut = 1; cut <= length; cut++) {
      const { tool, count } = createCountingTool();
      const stage = await createStage([tool]);
      const { result: whole, kept } = await stage.run(turns, []);
      assert.equal(kept.length, length);
      await stage.restart();
      const said = kept.slice(0, cut).filter(({ type }) => type === "turn").length;
      // A message that was lost is asked for again; here the model happens to say the same.
      const { result, kept: after, model } = await stage.run(turns.slice(said), kept.slice(0, cut), { messages: [] });
      assert.deepEqual(result, whole, `cut behind entry ${cut}`);
      assert.deepEqual(after.length, length);
      assert.equal(model.requests.length, 3 - said);
      assert.equal(count(), 3);
      assertComplete(result.messages);
    }
  });

  test("a call's request id depends on its place in the run, in a fixed format", async () => {
    const stage = await createStage([createCountingTool().tool]);
    const call = { id: "call_1", name: "count", arguments: '{"input":{}}' };
    const entries: readonly TranscriptEntry[] = [
      { type: "begin", runId: "run", sessionId: stage.opened.id, messages: BEGIN },
      { type: "turn", turn: 1, message: { role: "assistant", text: "", calls: [call] }, isCut: false, cost: 0 },
    ];
    const { kept } = await stage.run([saying("Done.")], entries);
    assert.equal(kept[2]?.type === "result" && kept[2].requestId, "req_loj2m7i3qhqidriqlomk");
  });

  test("equal calls of different runs are different calls", async () => {
    const { tool, count } = createCountingTool();
    const stage = await createStage([tool]);
    const once = [calling(["count", { input: {} }]), saying("Done.")];
    await stage.run(once, []);
    await stage.run(once, []);
    assert.equal(count(), 2);
  });

  test("a refused call stays refused, even if it would be permitted now", async () => {
    const { tool, count } = createCountingTool();
    const stage = await createStage([tool], createTestPolicy([{ id: "other", action: "other" }], [tool]));
    const { kept } = await stage.run([calling(["count", { input: {} }]), saying("A pity.")], []);
    await stage.restart(permitAll([tool]));
    const { result } = await stage.run([saying("A pity.")], kept.slice(0, 3));
    assert.match(resultsIn(result.messages)[0] ?? "", /there is no tool `count` for you[^]*NO_MATCHING_RULE/);
    assert.deepEqual([result.end, count()], ["answered", 0]);
  });

  test("a repeated late result counts once", async () => {
    const { tool, count } = createCountingTool();
    const stage = await createStage([tool]);
    const { result: whole, kept } = await stage.run(turns, []);
    const late = kept.find(({ type }) => type === "result");
    assert.ok(late);
    const { result } = await stage.run([saying("Done.")], [...kept.slice(0, -1), late]);
    assert.deepEqual([result, count()], [whole, 3]);
  });

  test("limits include usage before the resume", async () => {
    const { tool } = createCountingTool();
    const stage = await createStage([tool]);
    const { kept } = await stage.run(turns, []);
    const { result, model } = await stage.run([saying("More.")], kept.slice(0, 5), { limits: { turns: 1 } });
    assert.deepEqual([result.end, result.turns, model.requests.length], ["turns", 1, 0]);
    const dear = await stage.run([saying("More.")], kept.slice(0, 5), { limits: { cost: 1 } });
    assert.deepEqual([dear.result.end, dear.model.requests.length], ["cost", 0]);
  });

  test("under a lower cost limit finished calls keep their results and nothing else runs", async () => {
    const { tool, count } = createCountingTool();
    const stage = await createStage([tool]);
    const { result: whole, kept } = await stage.run(turns, []);
    const { result } = await stage.run([saying("More.")], kept.slice(0, 3), { limits: { cost: 1 } });
    assert.equal(result.end, "cost");
    const [first, second, third] = resultsIn(result.messages);
    assert.equal(second, resultsIn(whole.messages)[1]);
    for (const text of [first, third]) assert.match(text ?? "", /^The run ended before this call had a result/);
    assertComplete(result.messages);
    assert.equal(count(), 3);
  });

  test("in an ended session: a finished call returns its result again, any other reports the end", async () => {
    const { tool } = createCountingTool();
    const stage = await createStage([tool]);
    const { result: whole, kept } = await stage.run(turns, []);
    await stage.close();
    await stage.restart();
    const { result } = await stage.run([], kept, { messages: [], limits: { corrections: 0 } });
    assert.deepEqual(result, whole);
    for (const entries of [[], kept.slice(0, -1)]) {
      const { result: refused, kept: after, model } = await stage.run([saying("Done.")], entries);
      assert.equal(codeOf(refused), "SESSION_CLOSED");
      assert.deepEqual([after.length, model.requests.length], [entries.length, 0]);
    }
  });

  test("without a transcript too, finds an earlier session first", async () => {
    const { tool } = createCountingTool();
    const stage = await createStage([tool]);
    await stage.restart();
    const model = createScriptedModel(saying("Done."));
    await runAgent({ session: stage.session(), model, messages: BEGIN });
    assert.deepEqual(model.requests[0]?.tools, ["count"]);
    await stage.close();
    assert.equal(codeOf(await runAgent({ session: stage.session(), model, messages: BEGIN })), "SESSION_CLOSED");
  });

  test("by two at once: the second is rejected, and the first runs to its end", async () => {
    const { tool, count } = createCountingTool();
    const stage = await createStage([tool]);
    const { transcript } = createMemoryTranscript();
    const second: AgentResult[] = [];
    const { result } = await stage.run(turns, [], {
      transcript,
      onEvent: async ({ type }) => {
        if (type === "call") second.push((await stage.run(turns, [], { transcript })).result);
      },
    });
    assert.deepEqual([result.end, count(), second.length], ["answered", 3, 3]);
    for (const refused of second) assert.equal(codeOf(refused), "INVALID_REQUEST");
    assert.equal((await stage.run([], [], { transcript })).result.end, "answered");
  });

  test("of a cancelled run, makes the missing calls", async () => {
    const { tool, count } = createCountingTool();
    const stage = await createStage([tool]);
    const cancelling = new AbortController();
    const first = await stage.run(turns, [], {
      signal: cancelling.signal,
      onEvent: (event) => {
        if (event.type === "result" && event.outcome.status === "success") cancelling.abort();
      },
    });
    assert.equal(first.result.end, "cancelled");
    const { result } = await stage.run(turns.slice(1), first.kept);
    assert.deepEqual([result.end, count()], ["answered", 3]);
  });
});

describe("data that a transcript omits", () => {
  const secret = defineTool({
    name: "peek",
    description: "Reads what is secret.",
    inputSchema: true,
    resultType: "string",
    tier: "read_only",
    labels: ["secret"],
    run: () => WORDS,
  });
  const failing = defineTool({
    name: "fail",
    description: "Fails, and quotes what it read.",
    inputSchema: true,
    effects: ["artifact"],
    capabilities: [{ kind: "artifact", names: ["*"] }],
    tier: "side_effecting",
    run: () => {
      throw new Error(WORDS);
    },
  });
  const turns = [calling(["peek", { input: {} }], ["fail", { input: {} }]), saying("I see.")];

  test("results labelled secret and tools' error messages: the kernel returns them again", async () => {
    const stage = await createStage([secret, failing]);
    const { result: whole, kept } = await stage.run(turns, []);
    assert.equal(JSON.stringify(kept).includes(WORDS), false);
    assert.ok(resultsIn(whole.messages).every((text) => text.includes(WORDS)));
    await stage.restart();
    const { result, kept: after } = await stage.run([saying("I see.")], kept.slice(0, 4));
    assert.deepEqual(result, whole);
    assert.equal(JSON.stringify(after).includes(WORDS), false);
    const kinds = (await stage.records(stage.opened.id)).flatMap(({ entries }) => entries.map(({ kind }) => kind.case));
    assert.equal(kinds.filter((kind) => kind === "toolStarted").length, 2);
  });

  test("a tool's error message, whatever its code", async () => {
    const codes = [...ERROR_CODES.keys()];
    const choosing = defineTool({
      name: "choose",
      description: "Fails as it is told, and quotes what it read.",
      inputSchema: { type: "object", properties: { code: { type: "string" } }, required: ["code"] },
      tier: "read_only",
      run: ({ code }) => {
        throw new KernelError(code as ErrorCode, WORDS, {
          violations: [{ field: "a", rule: "format", message: WORDS }],
        });
      },
    });
    const stage = await createStage([choosing]);
    const calls = calling(...codes.map((code) => ["choose", { code }] as const));
    const { result: whole, kept } = await stage.run([calls, saying("I see.")], []);
    const told = resultsIn(whole.messages);
    assert.ok(told.every((text) => text.includes(WORDS)));
    assert.equal(JSON.stringify(kept).includes(WORDS), false);
    await stage.restart();
    const again = resultsIn((await stage.run([saying("I see.")], kept.slice(0, -1))).result.messages);
    const given = codes.filter((_, at) => again[at] === told[at]);
    for (const code of ["INVALID_INPUT", "FILE_NOT_FOUND", "PATH_ESCAPE", "RESOURCE_EXCEEDED"] as const) {
      assert.ok(given.includes(code), code);
    }
    const others = again.filter((_, at) => !given.includes(codes[at] ?? "INTERNAL"));
    for (const text of others) assert.match(text, /^(?:[A-Z_]+: [a-z]|The tool failed\.)/);
  });

  test("results in a conversation continued in a new transcript: the kernel returns them again", async () => {
    const stage = await createStage([secret, failing]);
    const { result: first } = await stage.run(turns, []);
    const messages = [...first.messages, { role: "user", text: "And now?" } as const];
    const { result: whole, kept } = await stage.run([saying("Now this.")], [], { messages });
    assert.equal(JSON.stringify(kept).includes(WORDS), false);
    await stage.restart();
    const { result, model } = await stage.run([saying("Now this.")], kept.slice(0, 1), { messages: [] });
    assert.deepEqual(result, whole);
    assert.deepEqual(model.requests[0]?.messages, messages);
    assert.equal((await stage.run([], kept, { messages })).result.end, "answered");
    const kinds = (await stage.records(stage.opened.id)).flatMap(({ entries }) => entries.map(({ kind }) => kind.case));
    assert.equal(kinds.filter((kind) => kind === "toolStarted").length, 2);
    const reworded = messages.map((message) => (message.role === "tool" ? { ...message, callId: "other" } : message));
    assert.equal(codeOf((await stage.run([], kept, { messages: reworded })).result), "INVALID_REQUEST");
  });

  test("the kernel does not return them to another session, and nothing runs again for it", async () => {
    const stage = await createStage([secret, failing]);
    const { result: first } = await stage.run(turns, []);
    const given = JSON.stringify(first.messages).replaceAll(stage.opened.id, "ses_other");
    const messages = [...(JSON.parse(given) as AgentMessage[]), { role: "user", text: "And now?" } as const];
    const { kept } = await stage.run([saying("Now this.")], [], { messages });
    const { result } = await stage.run([saying("Now this.")], kept.slice(0, 1), { messages: [] });
    assert.equal(resultsIn(result.messages).length, 2);
    for (const text of resultsIn(result.messages)) assert.match(text, /^What this call came to is not kept/);
    const asked = (await stage.records(stage.opened.id)).flatMap(({ entries }) => entries.map(({ kind }) => kind.case));
    assert.equal(asked.filter((kind) => kind === "toolInvoked").length, 2);
  });

  test("content that the session may no longer see is not shown again", async () => {
    const stage = await createStage([secret, failing]);
    const { kept } = await stage.run(turns, []);
    await stage.restart(createTestPolicy([{ id: "fail", action: "fail" }], [secret, failing]));
    const { result } = await stage.run([saying("I see.")], kept.slice(0, 4));
    const [peeked, failed] = resultsIn(result.messages);
    assert.equal(peeked?.includes(WORDS), false);
    assert.match(peeked ?? "", /NO_MATCHING_RULE/);
    assert.ok(failed?.includes(WORDS));
  });
});
