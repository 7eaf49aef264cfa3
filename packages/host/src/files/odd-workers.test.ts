import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { describe, it } from "node:test";
import type { FileOperation } from "@narthex/kernel";
import type { SandboxedProcess } from "../sandbox/spawn-sandbox.ts";
import { assertFails, edit, gather, list, read } from "./testing/file-operations.ts";
import { createScratchWorkspace } from "./testing/scratch-workspace.ts";

const ODD_WORKER = fileURLToPath(new URL("./testing/odd-worker.ts", import.meta.url));

describe("a worker that was taken over", () => {
  for (const [oddity, operation] of [
    ["path-up", read("x")],
    ["path-absolute", read("x")],
    ["no-items", read("x")],
    ["endless-size", read("x")],
    ["wrong-inline", read("x")],
    ["wrong-inline", edit("x", "a", "b")],
    ["offsets-outside", edit("x", "abcd", "b")],
    ["offsets-missing", edit("x", "a", "b")],
    ["short-chunk", read("x")],
    ["too-many-entries", list("x")],
    ["own-code", read("x")],
    ["own-words", read("x")],
    ["wrong-type", read("x")],
    ["unasked", read("x")],
    ["array", read("x")],
    ["no-frame", read("x")],
    ["huge-frame", read("x")],
    ["dies", read("x")],
    ["other-workspace", read("x")],
  ] as const) {
    it(`is ended, and the call fails, when it comes with ${oddity} to a ${operation.kind}`, () =>
      runOdd(oddity, operation));
  }

  it("is not waited for once the call is cancelled", async () => {
    await using scratch = await createScratchWorkspace({ start: ({ workspace }) => startOdd("silent", workspace) });
    const cancel = new AbortController();
    const prepared = scratch.prepare(read("x"), cancel.signal);
    cancel.abort();
    await assertFails(prepared, "CANCELLED");
  });
});

async function runOdd(oddity: string, operation: FileOperation): Promise<void> {
  let started: SandboxedProcess | undefined;
  await using scratch = await createScratchWorkspace({
    async start({ workspace }) {
      started = await startOdd(oddity, workspace);
      return started;
    },
  });
  await assertFails(use(scratch.run(operation)), "SANDBOX_ERROR");
  assert.ok(started);
  await started.ended;
}

async function use(running: ReturnType<Awaited<ReturnType<typeof createScratchWorkspace>>["run"]>): Promise<void> {
  const answer = await running;
  if (answer.kind === "read") await gather(answer.content);
}

/** The program without its sandbox: it does nothing but talk. */
async function startOdd(oddity: string, workspace: string): Promise<SandboxedProcess> {
  const child = spawn(process.execPath, [ODD_WORKER, oddity, workspace]);
  const ended = once(child, "close").then(() => ({ exitCode: child.exitCode ?? 1 }));
  const { stdin, stdout, stderr } = child;
  stdin.on("error", () => undefined);
  return await Promise.resolve({
    stdin,
    stdout,
    stderr,
    ended,
    pid: Promise.resolve(child.pid ?? 0),
    kill: () => child.kill("SIGKILL"),
  });
}
