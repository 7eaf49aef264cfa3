import assert from "node:assert/strict";
import { PassThrough, Writable } from "node:stream";
import { test } from "node:test";
import { StrictStdioTransport } from "./strict-stdio-transport.ts";

function openTransport({ isFull = false } = {}) {
  const input = new PassThrough();
  const written: string[] = [];
  const output = new Writable();
  const write = (lines: string): boolean => {
    written.push(lines);
    return !isFull;
  };
  const onRefused = (): void => undefined;
  const transport = new StrictStdioTransport({ input, output, write, maxLineBytes: 1000, maxCalls: 8, onRefused });
  return { transport, input, output, written };
}

const answer = (id: number) => ({ jsonrpc: "2.0", id, result: {} }) as const;
const line = (id: number): string => `${JSON.stringify(answer(id))}\n`;

test("responses of one turn are written at once, one per line and in order", async () => {
  const { transport, written } = openTransport();
  await Promise.all([transport.send(answer(1)), transport.send(answer(2))]);
  await transport.send(answer(3));
  assert.deepEqual(written, [line(1) + line(2), line(3)]);
});

test("a pending response is written before the transport closes, and nothing after it", async () => {
  const { transport, written } = openTransport();
  const sent = transport.send(answer(1));
  await transport.close();
  await sent;
  await transport.send(answer(2));
  assert.deepEqual(written, [line(1)]);
});

test("writes nothing more to a failed output", async () => {
  const { transport, output, written } = openTransport();
  await transport.start();
  const sent = transport.send(answer(1));
  output.emit("error", new Error("broken pipe"));
  await sent;
  assert.deepEqual(written, []);
});

test("applies back pressure to senders while the output is full", async () => {
  const { transport, output } = openTransport({ isFull: true });
  let isSent = false;
  const sending = transport.send(answer(1)).then(() => {
    isSent = true;
  });
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(isSent, false);
  output.emit("drain");
  await sending;
});

test("recognises a request by its method and id, and a cancel by its missing id", async () => {
  const { transport, input } = openTransport();
  const heard: unknown[] = [];
  transport.onmessage = (message) => heard.push(message);
  await transport.start();
  const call = { jsonrpc: "2.0", id: 7, method: "tools/call", params: { name: "echo", arguments: { a: 1 } } };
  const cancel = { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 7 } };
  input.write(`${JSON.stringify(call)}\n${JSON.stringify({ ...cancel, id: 8 })}\n`);
  await new Promise((resolve) => setImmediate(resolve));
  assert.deepEqual(transport.argumentsOf(7), { a: 1 });
  input.write(`${JSON.stringify(cancel)}\n`);
  await new Promise((resolve) => setImmediate(resolve));
  assert.equal(transport.argumentsOf(7), undefined);
  assert.equal(heard.length, 3);
});
