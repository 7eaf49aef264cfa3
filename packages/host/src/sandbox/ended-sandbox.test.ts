import assert from "node:assert/strict";
import { after, before, mock, test } from "node:test";
import { createTestSandbox, type TestSandbox } from "./testing/test-sandbox.ts";

let sandbox: TestSandbox;
before(async () => {
  sandbox = await createTestSandbox();
});
after(() => sandbox.remove());

test("a program that has ended is not killed by its number, which may be another process's by now", async () => {
  const started = await sandbox.start(["/bin/true"]);
  const pid = await started.pid;
  await started.ended;
  const kill = mock.method(process, "kill", () => true);
  try {
    started.kill();
    started.kill();
    assert.equal(kill.mock.callCount(), 0, `${pid} was killed again`);
  } finally {
    kill.mock.restore();
  }
});

test("one that runs is killed once by its number, and no more when it is gone", async () => {
  const started = await sandbox.start(["/bin/sleep", "infinity"]);
  const pid = await started.pid;
  const kill = mock.method(process, "kill");
  try {
    started.kill();
    await started.ended.catch(() => undefined);
    const numbers = kill.mock.calls.map(({ arguments: [number] }) => number);
    assert.deepEqual(numbers, [pid]);
    started.kill();
    assert.equal(kill.mock.callCount(), 1);
  } finally {
    kill.mock.restore();
  }
});
