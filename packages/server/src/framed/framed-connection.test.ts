import assert from "node:assert/strict";
import { connect, type Socket } from "node:net";
import { test } from "node:test";
import { create, encode, ToolRequestSchema } from "@narthex/contracts";
import { createByteBudget } from "../byte-budget.ts";
import { toolCall, until } from "../test-socket.ts";
import { joinFrames, PREFACE } from "./frame.ts";
import {
  assertStillAnswers,
  frame,
  largeCall,
  lengthOnly,
  MB,
  openDoor,
  rawClient,
  steppedClock,
} from "./test-framed.ts";

for (const [name, bytes, reason] of [
  ["a wrong preface", Buffer.from("GET / HTTP/1.1\r\n\r\n"), "bad_preface"],
  ["a preface of another version", Buffer.from("NTX2"), "bad_preface"],
  ["a wrong first byte alone", Buffer.from("X"), "bad_preface"],
] as const) {
  test(`${name} is closed without a response`, async (t) => {
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

test("undecodable frames get one INVALID_REQUEST without an id; earlier calls get their responses", async (t) => {
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

test("an invalid request gets its response under its id, and the connection stays", async (t) => {
  const { kernel, path } = await openDoor(t);
  const { socket, answers } = rawClient(t, path);
  const unknownField = Buffer.concat([encode(toolCall(kernel, "odd")), Buffer.from([0xf8, 0x06, 0x01])]);
  socket.write(PREFACE);
  socket.write(joinFrames([unknownField], unknownField.length));
  socket.write(frame(create(ToolRequestSchema, { requestId: "none", sessionToken: kernel.token })));
  socket.write(frame(toolCall(kernel, "good")));
  await until(() => answers.length === 3);
  assert.deepEqual(Object.fromEntries(answers.map((answer) => [answer.requestId, answer.result.case])), {
    good: "success",
    none: "error",
    odd: "error",
  });
});

test("a connection that ends inside a frame gets an error", async (t) => {
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

test("a large frame with a valid token in front arrives whole, in any chunks", async (t) => {
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

test("a missing preface ends the connection", async (t) => {
  const clock = steppedClock(t);
  const { kernel, path, door } = await openDoor(t);
  const { socket } = rawClient(t, path);
  socket.write("NT");
  await until(() => door.connections === 1);
  await clock.stepUntil(() => socket.closed);
  assert.deepEqual(
    kernel.refusals.map((refusal) => refusal.reason),
    ["preface_timeout"],
  );
});

test("a frame that is not finished in time ends the connection; an idle connection stays", async (t) => {
  const clock = steppedClock(t);
  const { kernel, path, door } = await openDoor(t);
  const idle = rawClient(t, path);
  const slow = rawClient(t, path);
  for (const client of [idle, slow]) {
    client.socket.write(PREFACE);
    client.socket.write(frame(toolCall(kernel, "first")));
    await until(() => client.answers.length === 1);
  }
  slow.socket.write(lengthOnly(100));
  slow.socket.write("some");
  await clock.stepUntil(() => slow.socket.closed);
  assert.equal(slow.answers[1]?.requestId, "");
  assert.deepEqual(
    kernel.refusals.map((refusal) => refusal.reason),
    ["frame_timeout"],
  );
  await until(() => door.connections === 1);
  idle.socket.write(frame(toolCall(kernel, "at-last")));
  await until(() => idle.answers.length === 2);
});

test("a client that never reads is disconnected, and its pending output is freed", async (t) => {
  const clock = steppedClock(t);
  const budget = createByteBudget(64 * MB);
  const { kernel, path, door } = await openDoor(t, { budget });
  const socket: Socket = connect(path);
  t.after(() => socket.destroy());
  socket.on("error", () => undefined);
  socket.pause();
  socket.write(PREFACE);
  const big = "x".repeat(500_000);
  for (let i = 0; i < 20; i++) socket.write(frame(toolCall(kernel, `r${i}`, "echo", { big })));
  await until(() => kernel.calls.length > 0);
  await clock.stepUntil(() => kernel.refusals.some((refusal) => refusal.reason === "reader_too_slow"));
  await until(() => door.connections === 0 && budget.used === 0);
});

test("reads nothing more while the budget is used up, until a response frees some of it", async (t) => {
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

test("reads nothing more while the maximum of calls is running", async (t) => {
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

test("a client that disconnects aborts its calls", async (t) => {
  const { kernel, path, door } = await openDoor(t);
  const { socket } = rawClient(t, path);
  socket.write(PREFACE);
  socket.write(frame(toolCall(kernel, "gone", "wait")));
  await until(() => kernel.waiting === 1);
  socket.destroy();
  await until(() => kernel.waiting === 0 && door.connections === 0);
  assert.equal(kernel.calls[0]?.signal?.aborted, true);
});

test("pipelined calls get responses as they are ready", async (t) => {
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
