import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { text } from "node:stream/consumers";
import { test } from "node:test";
import { create, KernelError, ToolInfoSchema, ToolResponseSchema } from "@narthex/contracts";
import { createTestKernel } from "../test-kernel.ts";
import { createKernelCaller, type McpCaller } from "./mcp-caller.ts";
import { serveMcpStdio } from "./serve-mcp-stdio.ts";

const HELLO = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };

/** Puts calls one after the other and gives the request ids they came under, and all that was answered. */
async function callAll(
  inputs: readonly object[],
  answer: McpCaller["call"],
  more: Partial<McpCaller> = {},
  meta: object = {},
): Promise<{ readonly ids: string[]; readonly output: string }> {
  const kernel = createTestKernel();
  const ids: string[] = [];
  const caller: McpCaller = {
    ...(await createKernelCaller(kernel, kernel.token)),
    // Of a tool that is not known it is not known that it only reads.
    listTools: async () => [],
    ...more,
    call(call, options) {
      ids.push(call.requestId);
      return answer(call, options);
    },
  };
  const [input, output] = [new PassThrough(), new PassThrough()];
  // One at a time, so that each knows how the one before ended.
  const door = serveMcpStdio({ caller, version: "1", input, output, maxCalls: 1 });
  const read = text(output);
  const send = (message: object): void => void input.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  send({ id: "init", method: "initialize", params: HELLO });
  send({ method: "notifications/initialized" });
  for (const [id, given] of inputs.entries()) {
    send({ id, method: "tools/call", params: { name: "echo", arguments: given, _meta: meta } });
    while (ids.length <= id) await new Promise((resolve) => setImmediate(resolve));
    await new Promise((resolve) => setImmediate(resolve));
  }
  input.end();
  await door.closed;
  output.end();
  return { ids, output: await read };
}

const unreachable = new KernelError("KERNEL_UNREACHABLE", "gone");
const success = (requestId: string, repeatedAnswer = false) =>
  create(ToolResponseSchema, {
    requestId,
    result: { case: "success", value: { view: "done", resultType: "string", repeatedAnswer } },
  });

test("a call without a response is repeated under its own request id, and an answered one under a new id", async () => {
  let lost = 2;
  const { ids, output } = await callAll([{ a: 1 }, { a: 2 }, { a: 1 }, { a: 1 }], async ({ requestId }) => {
    if (lost-- > 0) throw unreachable;
    return success(requestId);
  });
  assert.equal(ids[2], ids[0]);
  assert.equal(new Set(ids).size, 3);
  assert.match(output, /KERNEL_UNREACHABLE: gone/);
});

test("only the late response to an earlier call is marked as such", async () => {
  let lost = 1;
  const { output } = await callAll([{ a: 1 }, { a: 1 }, { a: 1 }], async ({ requestId }) => {
    if (lost-- > 0) throw unreachable;
    return success(requestId, true);
  });
  assert.equal(output.match(/"done"/g)?.length, 2);
  assert.equal(output.match(/It ran once, at that time/g)?.length, 1);
});

test("a repeated read-only call is sent to the kernel again", async () => {
  const echo = create(ToolInfoSchema, { name: "echo", safetyTier: "read_only", state: "ready", inputSchema: "{}" });
  const answers = ["given", "lost", "given"];
  const { ids, output } = await callAll(
    [{ a: 0 }, { a: 1 }, { a: 1 }],
    async ({ requestId }) => {
      if (answers.shift() === "lost") throw unreachable;
      return success(requestId);
    },
    { listTools: async () => [echo] },
  );
  assert.equal(new Set(ids).size, 3);
  assert.match(output, /KERNEL_UNREACHABLE: gone/);
});

test("passes on a valid trace context, and nothing else that would break a header", async () => {
  const traces: (string | undefined)[] = [];
  for (const traceparent of [
    "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01",
    "00-\r\nhost: evil",
    "\u2028",
  ]) {
    const answer: McpCaller["call"] = async ({ requestId }, { traceParent }) => {
      traces.push(traceParent);
      return success(requestId);
    };
    await callAll([{}], answer, {}, { traceparent });
  }
  assert.deepEqual(traces, ["00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", undefined, undefined]);
});

test("adds the caller's notice to the next response, once", async () => {
  const notices = ["another session"];
  const takeNotice = (): string | undefined => notices.pop();
  const { output } = await callAll([{ a: 1 }, { a: 2 }], async ({ requestId }) => success(requestId), { takeNotice });
  assert.equal(output.match(/another session/g)?.length, 1);
});
