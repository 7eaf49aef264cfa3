import assert from "node:assert/strict";
import { once } from "node:events";
import { chmod, rename, stat, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { test } from "node:test";
import { createTestKernel } from "../test-kernel.ts";
import { socketPath, toolCall, until } from "../test-socket.ts";
import { PREFACE } from "./frame.ts";
import { openFramedDoor } from "./framed-door.ts";
import { assertStillAnswers, frame, lengthOnly, openDoor, rawClient } from "./test-framed.ts";

test("two hundred unauthenticated clients with unfinished frames hold little memory and do not block a valid call", async (t) => {
  const { kernel, path, door } = await openDoor(t);
  const half = Buffer.concat([PREFACE, lengthOnly(900_000), Buffer.alloc(60_000, 0x7a)]);
  for (let i = 0; i < 200; i++) rawClient(t, path).socket.write(half);
  await until(() => kernel.refusals.length + door.connections >= 200);
  await assertStillAnswers(t, kernel, path);
  await until(() => kernel.refusals.length >= 100);
  assert.ok(kernel.refusals.every((refusal) => refusal.reason === "too_many_unfinished"));
});

test("a full door disconnects the oldest unauthenticated client and keeps authenticated ones", async (t) => {
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

test("closing lets running calls finish and respond", async (t) => {
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

test("after the grace period running calls are cancelled and respond", async (t) => {
  const { kernel, path, door } = await openDoor(t);
  const { socket, answers, closed } = rawClient(t, path);
  socket.write(PREFACE);
  socket.write(frame(toolCall(kernel, "last", "wait")));
  await until(() => kernel.waiting === 1);
  await door.close({ graceMs: 1 });
  await closed;
  assert.equal(answers[0]?.result.case === "error" && answers[0].result.value.errorCode, "CANCELLED");
});

test("a call that cannot be cancelled does not keep the door open", async (t) => {
  const { kernel, path, door } = await openDoor(t);
  const { socket, closed } = rawClient(t, path);
  let started = false;
  kernel.call = () => {
    started = true;
    return new Promise(() => undefined);
  };
  socket.write(PREFACE);
  socket.write(frame(toolCall(kernel, "stuck")));
  await until(() => started);
  await door.close();
  await closed;
});

test("the socket is private", async (t) => {
  const { path } = await openDoor(t);
  assert.equal((await stat(path)).mode & 0o777, 0o600);
});

test("does not replace a socket that a process still listens on", async (t) => {
  const { path, kernel } = await openDoor(t);
  await assert.rejects(openFramedDoor({ kernel, path }), { code: "HOME_BUSY" });
  await assertStillAnswers(t, kernel, path);
});

test("replaces a stale socket", async (t) => {
  const path = await socketPath(t);
  const left = createServer().listen(path);
  await once(left, "listening");
  // What a killed process leaves: the file without a listener.
  await rename(path, `${path}-moved`);
  left.close();
  await once(left, "close");
  await rename(`${path}-moved`, path);
  const kernel = createTestKernel();
  const door = await openFramedDoor({ kernel, path });
  t.after(() => door.close());
  await assertStillAnswers(t, kernel, path);
});

test("does not remove a file that is not a socket", async (t) => {
  const path = await socketPath(t);
  await writeFile(path, "precious");
  await assert.rejects(openFramedDoor({ kernel: createTestKernel(), path }), { code: "HOME_UNSAFE" });
  assert.ok((await stat(path)).isFile());
});

test("rejects a directory that others can enter", async (t) => {
  const path = await socketPath(t);
  await chmod(path.slice(0, -2), 0o755);
  await assert.rejects(openFramedDoor({ kernel: createTestKernel(), path }), { code: "HOME_UNSAFE" });
});

test("rejects a path too long for a socket", async (t) => {
  const path = `${await socketPath(t)}${"x".repeat(120)}`;
  await assert.rejects(openFramedDoor({ kernel: createTestKernel(), path }), { code: "CONFIG_INVALID" });
});
