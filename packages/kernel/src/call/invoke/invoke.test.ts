import assert from "node:assert/strict";
import { test } from "node:test";
import { createCountingTool, createTestKernel, createWaitingTool } from "@narthex/testkit";
import { create, encode, KernelError, toHex, ToolRequestSchema } from "@narthex/contracts";
import type { CallResult } from "../../kernel.ts";
import { defineTool } from "../../tool/define-tool.ts";
import type { Tool } from "../../tool/tool.ts";

function errorOf(result: CallResult) {
  const { result: answer } = result.response;
  assert.equal(answer.case, "error");
  return answer.case === "error" ? answer.value : assert.fail();
}

const streaming = (
  chunks: (context: { signal: AbortSignal }) => AsyncIterable<Uint8Array>,
  extra: Partial<Tool> = {},
) =>
  defineTool({
    name: "stream",
    description: "Streams.",
    inputSchema: true,
    resultType: "stream",
    tier: "read_only",
    ...extra,
    run: (_, context) => chunks(context),
  });

test("a time-out responds TIMEOUT, aborts the signal, and drops the late result", async () => {
  let aborted = false;
  const slow = defineTool({
    name: "slow",
    description: "Never in time.",
    inputSchema: true,
    tier: "read_only",
    bounds: { timeoutMs: 5 },
    run: (_, context) =>
      new Promise<string>((resolve) => {
        context.signal.addEventListener("abort", () => {
          aborted = true;
          resolve("late");
        });
      }),
  });
  const { open, records } = await createTestKernel({ tools: [slow] });
  const session = await open();
  assert.equal(errorOf(await session.call("slow", {})).errorCode, "TIMEOUT");
  assert.ok(aborted);
  assert.equal((await records(session.id)).at(-1)?.entries.at(-1)?.kind.case, "toolTimedOut");
});

test("a time-out after an intent says that effects are possible", async () => {
  const hanging = createCountingTool("count", () => new Promise(() => undefined));
  const { open } = await createTestKernel({ tools: [hanging.tool] });
  const error = errorOf(await (await open()).call("count", {}, { timeoutMs: 300 }));
  assert.equal(error.errorCode, "TIMEOUT");
  assert.equal(error.effectsPossible, true);
  assert.equal(error.retryable, false);
});

test("a thrown error is EXECUTION_FAILED, a coded one keeps its code", async () => {
  const throwing = (fault: Error) =>
    defineTool({
      name: "fails",
      description: "Fails.",
      inputSchema: true,
      tier: "read_only",
      run: () => {
        throw fault;
      },
    });
  for (const [fault, code] of [
    [new Error("boom"), "EXECUTION_FAILED"],
    [new KernelError("FILE_NOT_FOUND", "no such file"), "FILE_NOT_FOUND"],
  ] as const) {
    const { open } = await createTestKernel({ tools: [throwing(fault)] });
    assert.equal(errorOf(await (await open()).call("fails", {})).errorCode, code);
  }
});

test("a cancel request stops a running call and leaves CallCancelled", async () => {
  const waiting = createWaitingTool();
  const { open, kernel, records } = await createTestKernel({ tools: [waiting.tool] });
  const session = await open();
  const call = session.call("wait", {}, { requestId: "r" });
  await waiting.started;
  const cancel = create(ToolRequestSchema, {
    requestId: "c",
    sessionToken: session.token,
    tool: { case: "cancel", value: { requestId: "r" } },
  });
  const response = await kernel.call({ request: encode(cancel), door: "test" });
  assert.equal(response.requestId, "c");
  assert.equal(response.result.case, "success");
  assert.equal(errorOf(await call).errorCode, "CANCELLED");
  const entries = (await records(session.id)).flatMap((record) => record.entries.map((entry) => entry.kind.case));
  assert.ok(entries.includes("callCancelled"));
});

test("a tool that uses an undeclared effect ends in UNDECLARED_EFFECT", async () => {
  const sneaky = defineTool({
    name: "sneaky",
    description: "Publishes without saying so.",
    inputSchema: true,
    tier: "read_only",
    run: async (_, context) => {
      await context.artifacts.publish({ artifact_id: "a", content_hash: "00", category: "c", metadata: [] });
      return 1;
    },
  });
  const { open } = await createTestKernel({ tools: [sneaky] });
  assert.equal(errorOf(await (await open()).call("sneaky", {})).errorCode, "UNDECLARED_EFFECT");
});

test("a stream delivers while it runs, and its hash covers the whole stream", async () => {
  const seen: string[] = [];
  const tool = streaming(async function* () {
    yield Buffer.from("one ");
    yield Buffer.from("two");
  });
  const { open } = await createTestKernel({ tools: [tool] });
  const result = await (await open()).call(
    "stream",
    {},
    { onChunk: (chunk) => void seen.push(Buffer.from(chunk).toString()) },
  );
  assert.deepEqual(seen, ["one ", "two"]);
  assert.equal(Buffer.from(result.normalised ?? []).toString(), "one two");
});

test("a stream above 1 MB is read back whole through the content store", async () => {
  const tool = streaming(async function* () {
    for (let i = 0; i < 40; i++) yield new Uint8Array(65_536).fill(i);
  });
  const { open, kernel } = await createTestKernel({ tools: [tool] });
  const session = await open();
  const result = await session.call("stream", {});
  assert.equal(result.normalised, undefined);
  assert.ok(result.hash);
  const reading = await kernel.getContent(session.id, result.hash, 0, 0);
  assert.equal(reading.size, 40 * 65_536);
  let size = 0;
  for await (const chunk of reading.chunks) size += chunk.length;
  assert.equal(size, reading.size);
});

test("an endless stream is stopped by its time-out", async () => {
  const tool = streaming(
    async function* (context) {
      while (!context.signal.aborted) {
        yield Buffer.from("x");
        await new Promise((resolve) => setImmediate(resolve));
      }
    },
    { bounds: { timeoutMs: 20, maxOutputBytes: 1024 } },
  );
  const { open } = await createTestKernel({ tools: [tool] });
  assert.equal(errorOf(await (await open()).call("stream", {})).errorCode, "TIMEOUT");
});

test("deterministic tools see the session's clock and random: two runs with one seed agree", async () => {
  const dice = defineTool({
    name: "dice",
    description: "Rolls.",
    inputSchema: true,
    tier: "read_only",
    determinism: "deterministic",
    run: (_, context) => ({ now: context.nowMs(), random: toHex(context.randomBytes(40)) }),
  });
  const roll = async (seed: number) => {
    const { open } = await createTestKernel({ tools: [dice] });
    const session = await open({ seed: new Uint8Array(32).fill(seed) });
    return [(await session.call("dice", {})).raw, (await session.call("dice", {})).raw];
  };
  const [one, same, other] = [await roll(1), await roll(1), await roll(2)];
  assert.deepEqual(one, same);
  assert.notDeepEqual(one, other);
  assert.notDeepEqual(one[0], one[1]);
});
