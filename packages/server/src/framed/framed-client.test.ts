import assert from "node:assert/strict";
import { createServer } from "node:net";
import { type TestContext, test } from "node:test";
import { create, ToolRequestSchema } from "@narthex/contracts";
import { createTestKernel } from "../test-kernel.ts";
import { socketPath, toolCall, until } from "../test-socket.ts";
import { connectFramed } from "./framed-client.ts";
import { openFramedDoor } from "./framed-door.ts";

async function connected(t: TestContext) {
  const kernel = createTestKernel();
  const path = await socketPath(t);
  const door = await openFramedDoor({ kernel, path });
  t.after(() => door.close());
  const client = await connectFramed(path);
  t.after(() => client.close());
  return { kernel, door, client };
}

test("reports a missing kernel when connecting", async (t) => {
  await assert.rejects(connectFramed(await socketPath(t)), { code: "KERNEL_UNREACHABLE" });
});

test("recognises a peer that is not a kernel", async (t) => {
  const path = await socketPath(t);
  const server = createServer((socket) => socket.end("HTTP/1.1 400 Bad Request\r\n\r\n"));
  t.after(() => server.close());
  await new Promise<void>((resolve) => server.listen(path, resolve));
  const client = await connectFramed(path);
  await assert.rejects(client.call(toolCall(createTestKernel(), "r")), { code: "KERNEL_UNREACHABLE" });
});

test("rejects pending and later calls when the kernel disconnects", async (t) => {
  const { kernel, door, client } = await connected(t);
  let started = false;
  kernel.call = () => {
    started = true;
    return new Promise(() => undefined);
  };
  const waiting = client.call(toolCall(kernel, "r"));
  await until(() => started);
  await Promise.all([assert.rejects(waiting, { code: "KERNEL_UNREACHABLE" }), door.close()]);
  await assert.rejects(client.call(toolCall(kernel, "s")), { code: "KERNEL_UNREACHABLE" });
});

test("rejects a request id that is in use", async (t) => {
  const { kernel, client } = await connected(t);
  const first = client.call(toolCall(kernel, "r", "wait"));
  await assert.rejects(client.call(toolCall(kernel, "r")), { code: "DUPLICATE_REQUEST_ID" });
  await until(() => kernel.waiting === 1);
  kernel.release();
  assert.equal((await first).result.case, "success");
});

test("an aborted signal sends nothing; aborting later sends a cancel request", async (t) => {
  const { kernel, client } = await connected(t);
  await assert.rejects(client.call(toolCall(kernel, "r"), { signal: AbortSignal.abort() }), { code: "CANCELLED" });
  const controller = new AbortController();
  const running = client.call(toolCall(kernel, "s", "wait"), { signal: controller.signal });
  await until(() => kernel.waiting === 1);
  controller.abort();
  await until(() => kernel.calls.length === 2);
  kernel.release();
  assert.equal((await running).result.case, "success");
});

test("many concurrent calls each get their own response", async (t) => {
  const { kernel, client } = await connected(t);
  const ids = Array.from({ length: 200 }, (_, i) => `r${i}`);
  const answers = await Promise.all(ids.map((id) => client.call(toolCall(kernel, id, "echo", { id }))));
  for (const [i, answer] of answers.entries()) {
    assert.equal(answer.requestId, ids[i]);
    assert.equal(answer.result.case === "success" && answer.result.value.view, `{"id":"${ids[i]}"}`);
  }
});

test("returns a denial as a response, not an error", async (t) => {
  const { kernel, client } = await connected(t);
  const request = create(ToolRequestSchema, { ...toolCall(kernel, "r"), sessionToken: "wrong" });
  assert.equal((await client.call(request)).result.case, "denied");
});
