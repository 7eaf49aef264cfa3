import assert from "node:assert/strict";
import { test } from "node:test";
import { blake3, isKernelError, toHex, utf8 } from "@narthex/contracts";
import { createTestKernel } from "@narthex/testkit";
import { defineTool } from "../../tool/define-tool.ts";
import type { PrintedOutput, Tool, ToolContext } from "../../tool/tool.ts";

const BIG = Uint8Array.from({ length: 200_000 }, (_, index) => index % 251);

function tool(run: (context: ToolContext) => Promise<null>, more: Partial<Tool> = {}): Tool {
  const defined = defineTool({
    name: "keeper",
    description: "Keeps.",
    inputSchema: true,
    run: (_, context) => run(context),
  });
  return { ...defined, ...more };
}

async function* pieces(...chunks: Uint8Array[]): AsyncGenerator<Uint8Array> {
  yield* chunks;
}

test("content kept by a call belongs to its session only", async () => {
  const kept: PrintedOutput[] = [];
  const keeper = tool(async ({ content }) => {
    kept.push(await content.keep(pieces(utf8("small"))), await content.keep(pieces(BIG.subarray(0, 70_000), BIG)));
    return null;
  });
  const reader = defineTool({
    name: "reader",
    description: "Reads.",
    inputSchema: { type: "object", properties: { hash: { type: "string" } }, required: ["hash"] },
    resultType: "binary",
    run: ({ hash }, { content }) => content.read(hash, 0, 1_000_000),
  });
  const { open, kernel } = await createTestKernel({ tools: [keeper, reader] });
  const session = await open();
  await session.call("keeper", {});
  const whole = [utf8("small"), Buffer.concat([BIG.subarray(0, 70_000), BIG])];
  for (const [index, bytes] of whole.entries()) {
    const { hash, size } = kept[index] ?? assert.fail();
    assert.deepEqual([hash, size], [toHex(blake3(bytes)), bytes.length]);
    assert.deepEqual(Buffer.from((await session.call("reader", { hash })).raw as Uint8Array), Buffer.from(bytes));
    const { response } = await (await open()).call("reader", { hash });
    assert.equal(response.result.case === "error" && response.result.value.errorCode, "CONTENT_NOT_FOUND");
  }
  await kernel.close();
});

test("redacts secrets in kept content, also across chunks", async () => {
  let head = "";
  const redactors = [{ secrets: ["hunter22"], replacement: "[hidden]" }];
  const run = async ({ content }: ToolContext): Promise<null> => {
    head = Buffer.from((await content.keep(pieces(utf8("a hunt"), utf8("er22 b")))).head).toString();
    return null;
  };
  const { open, kernel } = await createTestKernel({ tools: [tool(run, { redactors })] });
  await (await open()).call("keeper", {});
  assert.equal(head, "a [hidden] b");
  await kernel.close();
});

test("charges kept content as stored bytes, and rejects content over the budget", async () => {
  const keeper = tool(async ({ content }) => {
    await content.keep(pieces(BIG));
    return null;
  });
  const { open, kernel } = await createTestKernel({ tools: [keeper] });
  const session = await open({ lease: { budgets: { stored_bytes: 100_000 } } });
  const { response } = await session.call("keeper", {});
  assert.equal(response.result.case === "error" && response.result.value.errorCode, "RESOURCE_EXCEEDED");
  await kernel.close();
});

test("stores no content after the call has ended, and tells its source to stop", async () => {
  let context: ToolContext | undefined;
  const keeper = tool(async (given) => {
    context = given;
    return null;
  });
  const { open, kernel } = await createTestKernel({ tools: [keeper] });
  await (await open()).call("keeper", {});
  const { content } = context ?? assert.fail();
  await assert.rejects(content.keep(pieces(BIG)), (fault) => isKernelError(fault) && fault.code === "CANCELLED");
  await kernel.close();
});

test("a call can read its remaining time, and a seeded call only its total time", async () => {
  const seen: number[] = [];
  const look = async ({ timeLeftMs }: ToolContext): Promise<null> => {
    seen.push(timeLeftMs());
    return null;
  };
  const bounds = { timeoutMs: 7000, maxOutputBytes: 1000 };
  const tools = [
    tool(look, { name: "plain", bounds }),
    tool(look, { name: "seeded", bounds, determinism: "deterministic", tier: "read_only" }),
  ];
  const { open, kernel } = await createTestKernel({ tools });
  const session = await open();
  await session.call("plain", {});
  await session.call("plain", {}, { timeoutMs: 300 });
  await session.call("seeded", {});
  const [whole = 0, short = 0, seeded] = seen;
  assert.ok(whole > 300 && whole <= 7000, String(whole));
  assert.ok(short > 0 && short <= 300, String(short));
  assert.equal(seeded, 7000);
  await kernel.close();
});
