import assert from "node:assert/strict";
import { chmod, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { setTimeout } from "node:timers/promises";
import { type Containment, openContainment } from "./open-containment.ts";
import { readAll } from "./read-all.ts";
import type { ContainedProgram } from "./start-contained.ts";
import { createTestSandbox, type TestSandbox } from "./testing/test-sandbox.ts";

const MB = 1024 * 1024;

describe("openContainment", () => {
  let sandbox: TestSandbox;
  let path: string;
  before(async () => {
    sandbox = await createTestSandbox();
    path = await mkdtemp(join(tmpdir(), "narthex-bwrap-"));
    await chmod(path, 0o755);
  });
  after(async () => {
    await sandbox.remove();
    await rm(path, { recursive: true });
  });

  const open = (search?: readonly string[]): Promise<Containment> =>
    openContainment({ directory: sandbox.machine.directory, ...(search !== undefined && { path: search }) });

  /** A bubblewrap that fails as it does elsewhere. */
  async function failingWith(text: string, mode = 0o755): Promise<Containment> {
    const bubblewrap = join(path, "bwrap");
    await writeFile(bubblewrap, `#!/bin/sh\ncat >&2 <<'END'\n${text}\nEND\nexit 1\n`);
    await chmod(bubblewrap, mode);
    return await open([path]);
  }

  const KNOWN: ReadonlyArray<readonly [printed: string, cause: string | undefined, problem: RegExp, fix: RegExp]> = [
    ["bwrap: setting up uid map: Permission denied", "apparmor", /AppArmor/, /profile with `userns,`/],
    ["bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted", "apparmor", /AppArmor/, /profile/],
    [
      "bwrap: No permissions to create new namespace, likely because the kernel does not allow non-privileged user namespaces.",
      "namespaces",
      /seccomp filter, or a setting/,
      /seccomp=unconfined/,
    ],
    [
      "bwrap: No permissions to creating new namespace, likely because the kernel does not allow it",
      "namespaces",
      /forbids user namespaces/,
      /seccomp=unconfined/,
    ],
    [
      "bwrap: Creating new namespace failed: nesting depth or /proc/sys/user/max_*_namespaces exceeded (ENOSPC)",
      "namespaces",
      /forbids user namespaces/,
      /allow user namespaces/,
    ],
    [
      "bwrap: Can't mount proc on /newroot/proc: Operation not permitted",
      "masked-proc",
      /masked paths/,
      /systempaths=unconfined/,
    ],
    ["bwrap: something new", undefined, /^the sandbox failed: bwrap: something new$/, /narthex doctor/],
  ];
  for (const [printed, cause, problem, fix] of KNOWN) {
    test(`contains nothing and says why: ${printed}`, async () => {
      const containment = await failingWith(printed);
      assert.equal(containment.level, "L2");
      assert.equal(containment.problem?.cause, cause);
      assert.match(containment.problem?.problem ?? "", problem);
      assert.match(containment.problem?.fix ?? "", fix);
      assert.ok(cause === undefined || containment.problem?.problem.endsWith(printed));
    });
  }

  test("runs no program where nothing is contained", async () => {
    const setuid = await failingWith("", 0o4755);
    assert.match(setuid.problem?.problem ?? "", /setuid root/);
    await rm(join(path, "bwrap"));
    for (const containment of [setuid, await open([path])]) {
      assert.equal(containment.level, "L2");
      await assert.rejects(containment.start(sandbox.plan, ["/bin/true"]), { code: "SANDBOX_UNAVAILABLE" });
    }
  });

  test("does not believe a bubblewrap that runs programs bare", async () => {
    const script = `#!/bin/sh
      cat <&3 >/dev/null; echo "{ \\"child-pid\\": $$ }" >&4; shift 3
      "$@"; echo "{ \\"exit-code\\": $? }" >&4`;
    await writeFile(join(path, "bwrap"), script);
    await chmod(join(path, "bwrap"), 0o755);
    const containment = await open([path]);
    assert.equal(containment.level, "L2");
    assert.match(containment.problem?.problem ?? "", /does not hold here: .*no network/);
  });
});

describe("a containment that holds", { timeout: 60_000 }, () => {
  let sandbox: TestSandbox;
  let containment: Containment;
  before(async () => {
    sandbox = await createTestSandbox();
  });
  after(() => sandbox.remove());
  beforeEach(async () => {
    containment = await openContainment({ directory: sandbox.machine.directory });
  });

  const start = (script: string, limits: object = {}): Promise<ContainedProgram> =>
    containment.start({ ...sandbox.plan, limits: { ...sandbox.plan.limits, ...limits } }, ["/bin/sh", "-c", script]);

  test("has a level that says whether totals are the operating system's to enforce", () => {
    assert.equal(containment.level, containment.controlGroups === undefined ? "L1" : "L0");
    assert.equal(containment.problem, undefined);
    assert.equal(containment.selfTest?.checks.length, 12);
  });

  test("gives a program's output and exit code", async () => {
    const program = await start("cat; exit 7");
    program.stdin.end("in");
    const [output, end] = await Promise.all([readAll(program.stdout, MB), program.ended]);
    assert.deepEqual([output.toString(), end.exitCode, end.exceeded], ["in", 7, undefined]);
  });

  test("ends processes that together take more memory than is allowed", async () => {
    const hold = "(head -c 24000000 /dev/zero; sleep 60) | tail >/dev/null";
    const program = await start(`${hold} & ${hold} & ${hold} & wait`, { memoryBytes: 48 * MB });
    program.stdin.end();
    const end = await program.ended;
    assert.equal(end.exceeded?.limit, "memory");
    assert.ok((end.exceeded?.peak ?? 0) > 40 * MB);
  });

  test("ends a program with all it started", async () => {
    const program = await start("sleep 1000 & setsid sleep 1000 & echo started; wait");
    await new Promise((resolve) => program.stdout.once("data", resolve));
    program.kill();
    await assert.rejects(program.ended, { code: "SANDBOX_ERROR" });
    await waitUntilGone(await program.pid);
  });
});

/** Its number may be taken a moment longer, by the record of how it ended. A process that still runs is waited for in vain. */
async function waitUntilGone(pid: number): Promise<void> {
  for (;;) {
    const status = await readFile(`/proc/${pid}/status`, "latin1").catch(() => "State:\tX");
    if (/^State:\s+[ZX]/m.test(status)) return;
    await setTimeout(5);
  }
}
