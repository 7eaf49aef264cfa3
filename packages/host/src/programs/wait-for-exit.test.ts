import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { chmod, chown, mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, test } from "node:test";
import { homePaths } from "../home/home-paths.ts";
import { openToolRuntime, type ToolRuntime } from "../open-tool-runtime.ts";

/** The system needs a while to end it: it holds much memory, and so do the processes that it left behind. */
const LEAVES_PROCESSES =
  'for i in 1 2 3; do (setsid python3 -c \'held=b"x"*(64<<20);open("held","a").write("x");import time;time.sleep(1000)\' >/dev/null 2>&1 &); done; until [ "$(wc -c <held 2>/dev/null)" = 3 ]; do sleep 0.01; done; rm held';

let root: string;
let workspace: string;
let workshop: ToolRuntime;

before(async () => {
  root = await mkdtemp(join(tmpdir(), "narthex-gone-"));
  workspace = await mkdtemp(join(tmpdir(), "narthex-gone-workspace-"));
  await chmod(root, 0o711);
  if (process.getuid?.() === 0) await chown(workspace, 1000, 1000);
  workshop = openToolRuntime({ paths: homePaths(root) });
});
after(async () => {
  await workshop.close();
  for (const path of [root, workspace]) await rm(path, { recursive: true, force: true });
});

test("a program that ends by itself has ended only when no process of its namespace runs", async () => {
  for (let round = 0; round < 5; round++) {
    const place = { sessionId: "ses_a", workspace, access: "write", mayFork: true, keepsProtected: true } as const;
    const program = { command: ["/bin/sh", "-c", LEAVES_PROCESSES], workingDirectory: "." };
    const started = await workshop.programs.start(place, program, AbortSignal.timeout(30_000));
    started.endInput();
    started.stdout.resume();
    started.stderr.resume();
    const pid = await started.pid;
    const { exitCode } = await started.ended;
    assert.equal(exitCode, 0);
    assert.ok(hasEnded(pid), "the first process of its namespace still runs");
  }
});

/** Nothing of a namespace is left when its first process has ended, collected or not. */
function hasEnded(pid: number): boolean {
  try {
    return /\) [ZX] /.test(readFileSync(`/proc/${pid}/stat`, "latin1"));
  } catch {
    return true;
  }
}
