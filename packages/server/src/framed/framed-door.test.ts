import assert from "node:assert/strict";
import { once } from "node:events";
import { chmod, stat, writeFile } from "node:fs/promises";
import { connect, createServer, type Socket } from "node:net";
import { type TestContext, test } from "node:test";
import {
  create,
  decodeResponse,
  encode,
  type ToolRequest,
  ToolRequestSchema,
  type ToolResponse,
} from "@narthex/contracts";
import { createByteBudget } from "../byte-budget.ts";
import { createTestKernel, type TestKernel } from "../test-kernel.ts";
import { socketPath, toolCall, until } from "../test-socket.ts";
import { joinFrames, PREFACE } from "./frame.ts";
import { type FramedDoorOptions, openFramedDoor } from "./framed-door.ts";

const MB = 1024 * 1024;

async function openDoor(t: TestContext, options: Partial<FramedDoorOptions> = {}) {
  const kernel = createTestKernel();
  const path = await socketPath(t);
  const door = await openFramedDoor({ kernel, path, budget: createByteBudget(256 * MB), ...options });
  t.after(() => door.close());
  return { kernel, path, door };
}

/** A client that sends what it is told to and collects answers. */
function rawClient(t: TestContext, path: string) {
  const socket = connect(path);
  const answers: ToolResponse[] = [];
  let received: Buffer = Buffer.alloc(0);
  socket.on("error", () => undefined);
  socket.on("data", (chunk) => {
    received = Buffer.concat([received, chunk]);
    while (received.length >= 4 && received.length >= 4 + received.readUInt32BE(0)) {
      const length = received.readUInt32BE(0);
      answers.push(decodeResponse(Buffer.from(received.subarray(4, 4 + length))));
      received = received.subarray(4 + length);
    }
  });
  t.after(() => socket.destroy());
  const closed = once(socket, "close");
  return { socket, answers, closed };
}

function frame(request: ToolRequest): Uint8Array {
  const body = encode(request);
  return joinFrames([body], body.length);
}

function lengthOnly(length: number): Buffer {
  const header = Buffer.alloc(4);
  header.writeUInt32BE(length);
  return header;
}

function largeCall(kernel: TestKernel, requestId: string, bytes: number, token = kernel.token): ToolRequest {
  const value = { path: "a", content: new Uint8Array(bytes).fill(1) };
  return create(ToolRequestSchema, { requestId, sessionToken: token, tool: { case: "fileWrite", value } });
}

async function assertStillAnswers(t: TestContext, kernel: TestKernel, path: string): Promise<void> {
  const { socket, answers } = rawClient(t, path);
  socket.write(PREFACE);
  socket.write(frame(toolCall(kernel, "still-here")));
  await until(() => answers.length === 1);
  assert.equal(answers[0]?.result.case, "success");
}

for (const [name, bytes, reason] of [
  ["a wrong preface", Buffer.from("GET / HTTP/1.1\r\n\r\n"), "bad_preface"],
  ["a preface of another version", Buffer.from("NTX2"), "bad_preface"],
  ["a wrong first byte alone", Buffer.from("X"), "bad_preface"],
] as const) {
  test(`${name} is refused without an answer`, async (t) => {
    const { kernel, path } = await openDoor(t);
    const { socket, answers, closed } = rawClient(t, path);
    socket.write(bytes);
    await closed;
    assert.equal(answers.length, 0);
    assert.deepEqual(
      kernel.refusals.map(({ door, reason: found }) => [door, found]),
      [["framed", reason]],
    );
  });
}

for (const [name, bytes, reason] of [
  ["a frame of no bytes", lengthOnly(0), "empty_frame"],
  ["a frame of more than 128 MB", lengthOnly(128 * MB + 1), "too_large"],
  ["a length of 4 GB", lengthOnly(0xffffffff), "too_large"],
  [
    "a request above 1 MB without a token in front",
    Buffer.concat([lengthOnly(2 * MB), Buffer.alloc(9000, 0x7a)]),
    "token_not_first",
  ],
] as const) {
  test(`${name} gets one INVALID_REQUEST without an id, then the connection closes`, async (t) => {
    const { kernel, path } = await openDoor(t);
    const { socket, answers, closed } = rawClient(t, path);
    socket.write(PREFACE);
    socket.write(bytes);
    await closed;
    assert.equal(answers.length, 1);
    assert.equal(answers[0]?.requestId, "");
    assert.equal(answers[0]?.result.case === "error" && answers[0].result.value.errorCode, "INVALID_REQUEST");
    assert.deepEqual(
      kernel.refusals.map((refusal) => refusal.reason),
      [reason],
    );
    assert.equal(kernel.calls.length, 0);
    await assertStillAnswers(t, kernel, path);
  });
}

test("undecodable frames get one INVALID_REQUEST without an id; calls already read are answered", async (t) => {
  const { kernel, path } = await openDoor(t);
  const { socket, answers, closed } = rawClient(t, path);
  const broken = Buffer.concat([lengthOnly(3), Buffer.from([0xff, 0xff, 0xff])]);
  socket.write(PREFACE);
  socket.write(frame(toolCall(kernel, "slow", "wait")));
  await until(() => kernel.waiting === 1);
  socket.write(Buffer.concat([broken, broken]));
  await until(() => answers.length === 1);
  socket.write(frame(toolCall(kernel, "never-read")));
  kernel.release();
  await closed;
  assert.deepEqual(
    answers.map((answer) => answer.requestId),
    ["", "slow"],
  );
  assert.ok(kernel.refusals.length > 0);
});

test("a request that breaks rules is answered under its id and the connection stays", async (t) => {
  const { kernel, path } = await openDoor(t);
  const { socket, answers } = rawClient(t, path);
  const unknownField = Buffer.concat([encode(toolCall(kernel, "odd")), Buffer.from([0xf8, 0x06, 0x01])]);
  socket.write(PREFACE);
  socket.write(joinFrames([unknownField], unknownField.length));
  socket.write(frame(create(ToolRequestSchema, { requestId: "none", sessionToken: kernel.token })));
  socket.write(frame(toolCall(kernel, "good")));
  await until(() => answers.length === 3);
  assert.deepEqual(answers.map((answer) => [answer.requestId, answer.result.case]).sort(), [
    ["good", "success"],
    ["none", "error"],
    ["odd", "error"],
  ]);
});

test("a connection that ends inside a frame is told so", async (t) => {
  const { kernel, path } = await openDoor(t);
  const { socket, answers, closed } = rawClient(t, path);
  socket.write(PREFACE);
  socket.end(frame(toolCall(kernel, "cut")).subarray(0, 20));
  await closed;
  assert.equal(answers[0]?.requestId, "");
  assert.deepEqual(
    kernel.refusals.map((refusal) => refusal.reason),
    ["truncated_frame"],
  );
});

test("a large frame with a wrong token is denied before it is read, and the connection stays", async (t) => {
  const { kernel, path } = await openDoor(t);
  const { socket, answers } = rawClient(t, path);
  const large = frame(largeCall(kernel, "large", 3 * MB, "wrong-token"));
  socket.write(PREFACE);
  socket.write(large.subarray(0, 10_000));
  await until(() => answers.length === 1);
  assert.equal(answers[0]?.requestId, "large");
  assert.equal(answers[0]?.result.case, "denied");
  assert.equal(kernel.calls.length, 0);
  socket.write(large.subarray(10_000));
  socket.write(frame(toolCall(kernel, "after")));
  await until(() => answers.length === 2);
  assert.equal(answers[1]?.requestId, "after");
  assert.deepEqual(
    kernel.refusals.map((refusal) => refusal.reason),
    ["SESSION_UNKNOWN"],
  );
});

test("a large frame with a valid token in front arrives whole, in whatever pieces", async (t) => {
  const { kernel, path } = await openDoor(t);
  const { socket, answers } = rawClient(t, path);
  const request = largeCall(kernel, "large", 3 * MB);
  const bytes = frame(request);
  socket.write(PREFACE.subarray(0, 2));
  socket.write(PREFACE.subarray(2));
  for (let at = 0; at < bytes.length; at += 300_001) socket.write(bytes.subarray(at, at + 300_001));
  await until(() => answers.length === 1);
  assert.deepEqual(Buffer.from(kernel.calls[0]?.request as Uint8Array), Buffer.from(encode(request)));
});

test("a frame below 1 MB may give its token last", async (t) => {
  const { kernel, path } = await openDoor(t);
  const { socket, answers } = rawClient(t, path);
  const { sessionToken, ...rest } = largeCall(kernel, "late", 500_000);
  const body = Buffer.concat([
    encode(create(ToolRequestSchema, { ...rest, sessionToken: "" })),
    encode(create(ToolRequestSchema, { sessionToken })),
  ]);
  socket.write(PREFACE);
  for (let at = 0; at < body.length; at += 50_000) {
    if (at === 0) socket.write(lengthOnly(body.length));
    socket.write(body.subarray(at, at + 50_000));
  }
  await until(() => answers.length === 1);
  assert.equal(answers[0]?.result.case, "success");
});

test("a frame sent byte by byte is read", async (t) => {
  const { kernel, path } = await openDoor(t);
  const { socket, answers } = rawClient(t, path);
  socket.setNoDelay(true);
  for (const byte of [...PREFACE, ...frame(toolCall(kernel, "drops"))]) {
    await new Promise((resolve) => socket.write(Buffer.from([byte]), resolve));
  }
  await until(() => answers.length === 1);
  assert.equal(answers[0]?.requestId, "drops");
});

test("a preface that does not come ends the connection", async (t) => {
  const { kernel, path } = await openDoor(t, { limits: { prefaceTimeoutMs: 20 } });
  const { socket, closed } = rawClient(t, path);
  socket.write("NT");
  await closed;
  assert.deepEqual(
    kernel.refusals.map((refusal) => refusal.reason),
    ["preface_timeout"],
  );
});

test("a frame that is not finished in time ends the connection; an idle connection stays", async (t) => {
  const { kernel, path, door } = await openDoor(t, { limits: { frameTimeoutMs: 30, prefaceTimeoutMs: 10 } });
  const idle = rawClient(t, path);
  idle.socket.write(PREFACE);
  const slow = rawClient(t, path);
  slow.socket.write(PREFACE);
  slow.socket.write(lengthOnly(100));
  slow.socket.write("some");
  await slow.closed;
  assert.equal(slow.answers[0]?.requestId, "");
  assert.deepEqual(
    kernel.refusals.map((refusal) => refusal.reason),
    ["frame_timeout"],
  );
  await until(() => door.connections === 1);
  idle.socket.write(frame(toolCall(kernel, "at-last")));
  await until(() => idle.answers.length === 1);
});

test("a client that never reads is dropped, and what waited for it is let go", async (t) => {
  const budget = createByteBudget(64 * MB);
  const { kernel, path, door } = await openDoor(t, { budget, limits: { writeTimeoutMs: 50, prefaceTimeoutMs: 20 } });
  const socket: Socket = connect(path);
  t.after(() => socket.destroy());
  socket.on("error", () => undefined);
  socket.pause();
  socket.write(PREFACE);
  const big = "x".repeat(500_000);
  for (let i = 0; i < 20; i++) socket.write(frame(toolCall(kernel, `r${i}`, "echo", { big })));
  await until(() => kernel.refusals.some((refusal) => refusal.reason === "reader_too_slow"));
  await until(() => door.connections === 0 && budget.used === 0);
});

test("two hundred strangers with unfinished frames do not keep a valid call out", async (t) => {
  const { kernel, path, door } = await openDoor(t);
  const half = Buffer.concat([PREFACE, lengthOnly(900_000), Buffer.alloc(60_000, 0x7a)]);
  for (let i = 0; i < 200; i++) rawClient(t, path).socket.write(half);
  await until(() => door.connections === 200);
  await assertStillAnswers(t, kernel, path);
});

test("when the door is full, the oldest stranger makes room and known clients stay", async (t) => {
  const { kernel, path, door } = await openDoor(t, { limits: { maxConnections: 3 } });
  const known = rawClient(t, path);
  known.socket.write(PREFACE);
  known.socket.write(frame(toolCall(kernel, "known")));
  await until(() => known.answers.length === 1);
  const first = rawClient(t, path);
  await once(first.socket, "connect");
  await until(() => door.connections === 2);
  const second = rawClient(t, path);
  await until(() => door.connections === 3);
  const third = rawClient(t, path);
  third.socket.write(PREFACE);
  await first.closed;
  third.socket.write(frame(toolCall(kernel, "third")));
  await until(() => third.answers.length === 1);
  known.socket.write(frame(toolCall(kernel, "again")));
  await until(() => known.answers.length === 2);
  assert.equal(second.socket.closed, false);
  assert.ok(kernel.refusals.some((refusal) => refusal.reason === "too_many_connections"));
});

test("with the budget used up nothing more is read until an answer frees some of it", async (t) => {
  const budget = createByteBudget(2 * MB);
  const { kernel, path } = await openDoor(t, { budget });
  const { socket, answers } = rawClient(t, path);
  const half = "x".repeat(1_200_000);
  socket.write(PREFACE);
  socket.write(frame(toolCall(kernel, "one", "wait", { half })));
  socket.write(frame(toolCall(kernel, "two", "wait", { half })));
  await until(() => kernel.waiting === 1);
  const other = rawClient(t, path);
  other.socket.write(PREFACE);
  other.socket.write(frame(toolCall(kernel, "other", "echo", { half })));
  assert.equal(kernel.calls.length, 1);
  kernel.release();
  await until(() => kernel.waiting === 1 && answers.length === 1);
  kernel.release();
  await until(() => answers.length === 2 && other.answers.length === 1);
  await until(() => budget.used === 0);
});

test("with the most calls running nothing more is read", async (t) => {
  const { kernel, path } = await openDoor(t, { limits: { maxCallsPerConnection: 2 } });
  const { socket, answers } = rawClient(t, path);
  socket.write(PREFACE);
  for (let i = 0; i < 5; i++) socket.write(frame(toolCall(kernel, `r${i}`, "wait")));
  await until(() => kernel.waiting === 2);
  await assertStillAnswers(t, kernel, path);
  assert.equal(kernel.waiting, 2);
  while (answers.length < 5) {
    kernel.release();
    await new Promise((resolve) => setImmediate(resolve));
  }
});

test("a client that hangs up aborts its calls", async (t) => {
  const { kernel, path, door } = await openDoor(t);
  const { socket } = rawClient(t, path);
  socket.write(PREFACE);
  socket.write(frame(toolCall(kernel, "gone", "wait")));
  await until(() => kernel.waiting === 1);
  socket.destroy();
  await until(() => kernel.waiting === 0 && door.connections === 0);
  assert.equal(kernel.calls[0]?.signal?.aborted, true);
});

test("pipelined calls are answered as they get ready", async (t) => {
  const { kernel, path } = await openDoor(t);
  const { socket, answers } = rawClient(t, path);
  const bodies = Array.from({ length: 1000 }, (_, i) => encode(toolCall(kernel, `r${i}`)));
  const slow = encode(toolCall(kernel, "slow", "wait"));
  const all = [slow, ...bodies];
  socket.write(PREFACE);
  socket.write(
    joinFrames(
      all,
      all.reduce((sum, body) => sum + body.length, 0),
    ),
  );
  await until(() => answers.length === 1000);
  assert.ok(answers.every((answer) => answer.requestId !== "slow"));
  kernel.release();
  await until(() => answers.length === 1001);
  assert.equal(new Set(answers.map((answer) => answer.requestId)).size, 1001);
});

test("closing lets running calls finish and be answered", async (t) => {
  const { kernel, path, door } = await openDoor(t);
  const { socket, answers, closed } = rawClient(t, path);
  socket.write(PREFACE);
  socket.write(frame(toolCall(kernel, "last", "wait")));
  await until(() => kernel.waiting === 1);
  const closing = door.close({ graceMs: 60_000 });
  kernel.release();
  await closing;
  await closed;
  assert.equal(answers[0]?.result.case, "success");
  await assert.rejects(stat(path), { code: "ENOENT" });
});

test("closing hangs up when the grace is over", async (t) => {
  const { kernel, path, door } = await openDoor(t);
  const { socket, closed } = rawClient(t, path);
  socket.write(PREFACE);
  socket.write(frame(toolCall(kernel, "last", "wait")));
  await until(() => kernel.waiting === 1);
  await door.close({ graceMs: 1 });
  await closed;
  await until(() => kernel.waiting === 0);
});

test("the socket is private", async (t) => {
  const { path } = await openDoor(t);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});

test("a socket that somebody answers on is not replaced", async (t) => {
  const { path, kernel } = await openDoor(t);
  await assert.rejects(openFramedDoor({ kernel, path }), { code: "HOME_BUSY" });
  await assertStillAnswers(t, kernel, path);
});

test("a socket left behind is replaced", async (t) => {
  const path = await socketPath(t);
  const left = createServer().listen(path);
  await once(left, "listening");
  // What a killed process leaves: the file without a listener.
  const { rename } = await import("node:fs/promises");
  await rename(path, `${path}-moved`);
  left.close();
  await once(left, "close");
  await rename(`${path}-moved`, path);
  const kernel = createTestKernel();
  const door = await openFramedDoor({ kernel, path });
  t.after(() => door.close());
  await assertStillAnswers(t, kernel, path);
});

test("a file that is no socket is not removed", async (t) => {
  const path = await socketPath(t);
  await writeFile(path, "precious");
  await assert.rejects(openFramedDoor({ kernel: createTestKernel(), path }), { code: "HOME_UNSAFE" });
  assert.ok((await stat(path)).isFile());
});

test("a directory that others can enter is refused", async (t) => {
  const path = await socketPath(t);
  await chmod(path.slice(0, -2), 0o755);
  await assert.rejects(openFramedDoor({ kernel: createTestKernel(), path }), { code: "HOME_UNSAFE" });
});

test("a path too long for a socket is refused", async (t) => {
  const path = `${await socketPath(t)}${"x".repeat(120)}`;
  await assert.rejects(openFramedDoor({ kernel: createTestKernel(), path }), { code: "CONFIG_INVALID" });
});
