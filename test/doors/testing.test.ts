import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, describe, it } from "node:test";
import { generateText, isStepCount, streamText } from "ai";
import { generateText as generateText6, stepCountIs, streamText as streamText6 } from "ai-6";
import { defineTool, narthexTools, runAgent } from "narthex";
import { createAutoApprover, createScriptedModel, createTestClock, openTestKernel } from "narthex/testing";

const days: string[] = [];
const moveRelease = defineTool({
  name: "move_release",
  description: "Moves the release to another day.",
  inputSchema: {
    type: "object",
    properties: { day: { type: "string" } },
    required: ["day"],
    additionalProperties: false,
  },
  run: ({ day }) => days.push(day),
});
const rules = '@id("ask-move") @approve("human") permit(principal, action == Action::"move_release", resource);';
const approver = createAutoApprover(({ input }) =>
  JSON.stringify(input).includes("Friday") ? { approved: false, reason: "never on a Friday" } : true,
);
const clock = createTestClock();
const kernel = await openTestKernel({
  tools: [moveRelease],
  policies: [{ name: "release.cedar", text: rules }],
  approver,
  clock,
});
after(() => kernel.close());

/** A call that is wrong, one that is denied, one that is allowed, and an answer. */
const script = () =>
  createScriptedModel(
    { call: "move_release", arguments: '{"dya": "Friday"}' },
    { call: "move_release", input: { day: "Friday" } },
    {
      calls: [
        { call: "move_release", input: { day: "Monday" } },
        { call: "echo", input: { text: "hello" } },
      ],
    },
    { text: "It is Monday." },
  );

describe("a kernel for tests", () => {
  it("is a complete kernel, and leaves nothing behind when closed", async () => {
    await using own = await openTestKernel();
    const session = await own.session();
    assert.equal((await session.call("file_write", { path: "a.txt", content: "hello" })).status, "success");
    assert.equal((await session.call("shell_exec", { command: "cat a.txt" })).status, "success");
    const asked = await session.call("shell_exec", { command: "id" });
    assert.deepEqual([asked.status, asked.code], ["denied", "APPROVAL_UNAVAILABLE"], "nobody waits for a person");
    const { home, workspace } = own;
    await own.close();
    assert.ok(!existsSync(home.path) && !existsSync(workspace));
    assert.throws(() => clock.advance(-1), RangeError);
    await assert.rejects(() => openTestKernel({ tool: [] } as object), /did you mean tools\?/);
  });

  it("uses a clock that the test controls", async () => {
    const session = await kernel.session({ ttlMs: 60_000 });
    const { records } = await kernel.ledger.list({ session: session.id });
    assert.equal(records[0]?.time.toISOString(), "2026-01-01T00:00:00.000Z");
    clock.advance(59_999);
    assert.equal((await session.call("echo", 1)).status, "success");
    clock.advance(1);
    assert.equal((await session.call("echo", 1)).code, "SESSION_EXPIRED");
  });

  const ways: [string, (model: ReturnType<typeof script>) => Promise<string>][] = [
    [
      "runAgent",
      async (model) => {
        const session = await kernel.session();
        return (await runAgent({ session, model, messages: [{ role: "user", text: "Friday?" }] })).text;
      },
    ],
    [
      "generateText of AI SDK 7",
      async (model) => {
        const tools = narthexTools(await kernel.session());
        return (await generateText({ model, tools, prompt: "Friday?", stopWhen: isStepCount(9) })).text;
      },
    ],
    [
      "streamText of AI SDK 7",
      async (model) => {
        const tools = narthexTools(await kernel.session());
        return streamText({ model, tools, prompt: "Friday?", stopWhen: isStepCount(9) }).text;
      },
    ],
    [
      "generateText of AI SDK 6",
      async (model) => {
        const tools = narthexTools(await kernel.session());
        return (await generateText6({ model, tools, prompt: "Friday?", stopWhen: stepCountIs(9) })).text;
      },
    ],
    [
      "streamText of AI SDK 6",
      async (model) => {
        const tools = narthexTools(await kernel.session());
        return streamText6({ model, tools, prompt: "Friday?", stopWhen: stepCountIs(9) }).text;
      },
    ],
  ];
  for (const [name, run] of ways) {
    it(`runs a scripted model in ${name}, with a scripted approver`, async () => {
      days.length = 0;
      const before = approver.requests.length;
      const model = script();
      assert.equal(await run(model), "It is Monday.");
      assert.deepEqual(days, ["Monday"]);
      assert.deepEqual(
        approver.requests.slice(before).map(({ tool, input }) => [tool, input]),
        [
          ["move_release@1.0.0", { day: "Friday" }],
          ["move_release@1.0.0", { day: "Monday" }],
        ],
      );
      assert.equal(model.requests.length, 4);
      assert.ok(model.requests.every(({ tools }) => tools.includes("move_release")));
      const told = JSON.stringify(model.requests.at(-1)?.messages);
      assert.match(told, /missing required field 'day' in arguments/);
      assert.match(told, /never on a Friday/);
    });
  }

  it("fails the model when its script is over", async () => {
    const model = createScriptedModel({ call: "echo", input: {} });
    const session = await kernel.session();
    const { end, error } = await runAgent({ session, model, messages: [{ role: "user", text: "?" }] });
    assert.equal(end, "failed");
    assert.match(String(error), /the script has 1 turns, and the model was asked for one more/);
  });
});
