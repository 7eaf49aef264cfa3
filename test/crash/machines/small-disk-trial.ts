/** What becomes of a kernel on a small disk of its own. Run in a mount namespace, so that the disk goes with it. */
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { closeSync, openSync, rmSync, writeSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkHome } from "../rounds/check-home.ts";
import { createCrashHome } from "../rounds/crash-home.ts";
import { assertStopped, CallSource, callUntilFailure } from "./call-until-failure.ts";
import { Refusal, startMachineKernel } from "./machine-kernel.ts";

const DISK_SIZE = "24m";
const SEED = 53;
const [MOUNT, UNMOUNT] = ["mount", "umount"] as const;

const disk = await mkdtemp(join(tmpdir(), "narthex-disk-"));
execFileSync(MOUNT, ["-t", "tmpfs", "-o", `size=${DISK_SIZE}`, "none", disk]);
const at = await createCrashHome({ disk });
at.failsToStore = true;
try {
  const source = new CallSource(SEED);
  const ballast = join(disk, "ballast");
  const start = () => startMachineKernel(at, { seed: SEED });
  const kernel = await start();
  for (const answer of await kernel.call(...source.take(20))) assert.match(answer, /^success /);
  fill(ballast);
  await callUntilFailure(kernel, source);
  await assertStopped(at, kernel, source);
  await kernel.close();
  fill(ballast);
  await assert.rejects(
    start(),
    isRefusal(/^STORE_UNAVAILABLE: .*(?:\(ENOSPC\)|disk is full)$/),
    "a full disk is named at the start",
  );
  rmSync(ballast);
  execFileSync(MOUNT, ["-o", "remount,ro", disk]);
  await assert.rejects(
    start(),
    isRefusal(/^STORE_UNAVAILABLE: .*\(EROFS\)$/),
    "a read-only disk is named at the start",
  );
  execFileSync(MOUNT, ["-o", "remount,rw", disk]);
  const { problems, repeated } = await checkHome(at, SEED, [...at.answered.keys()]);
  assert.deepEqual(problems, []);
  // Nothing is left of those that could not start.
  assert.deepEqual((await readdir(join(at.home, "run"))).sort(), [
    "admin.token",
    "approve.token",
    "lock.db",
    "read.token",
  ]);
  console.log(`${repeated} answers kept`);
} finally {
  await at.remove();
  execFileSync(UNMOUNT, [disk]);
  await rm(disk, { recursive: true });
}

function fill(path: string): void {
  const file = openSync(path, "a");
  try {
    for (;;) writeSync(file, Buffer.alloc(4096));
  } catch (fault) {
    assert.match(String(fault), /ENOSPC/);
  } finally {
    closeSync(file);
  }
}

function isRefusal(message: RegExp): (fault: unknown) => boolean {
  return (fault) => fault instanceof Refusal && message.test(fault.message);
}
