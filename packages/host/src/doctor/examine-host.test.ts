import assert from "node:assert/strict";
import { chmod, chown, mkdir, mkdtemp, readdir, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { type ExamineOptions, examineHost } from "./examine-host.ts";
import type { HostReport } from "./host-report.ts";

const isRoot = process.getuid?.() === 0;
const USER = 1000;

describe("examineHost", { timeout: 120_000 }, () => {
  let root: string;
  let directory: string;
  let programs: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), "narthex-examine-"));
    await chmod(root, 0o755);
    directory = join(root, "project");
    programs = join(root, "programs");
    for (const path of [directory, programs, join(root, "tools/bin"), join(root, "tools/lib"), join(root, "closed")]) {
      await mkdir(path, { recursive: true });
    }
    if (isRoot) await chown(directory, USER, USER);
  });
  after(() => rm(root, { recursive: true }));

  const examine = (changes: Partial<ExamineOptions> = {}): Promise<HostReport> =>
    examineHost({
      kernelHome: join(root, "kernel"),
      userHome: join(root, "user"),
      path: `${root}/tools/bin:${root}/kernel/bin:/usr/bin`,
      directory,
      ...changes,
    });

  const state = (report: HostReport, name: string): string | undefined =>
    report.mechanisms.find((mechanism) => mechanism.name === name)?.state;
  const classes = (report: HostReport): string[] => report.toolClasses.map(({ name, state }) => `${name} ${state}`);
  const fixes = (report: HostReport): string => report.steps.flatMap(({ lines }) => lines).join("\n");

  /** A bubblewrap that fails as it does elsewhere. */
  async function withBubblewrap(text: string, mode = 0o755): Promise<HostReport> {
    const path = join(programs, "bwrap");
    await writeFile(path, `#!/bin/sh\ncat >&2 <<'END'\n${text}\nEND\nexit 1\n`);
    await chmod(path, mode);
    return await examine({ programs: [programs] });
  }

  function assertDisabled(report: HostReport, problem: RegExp): void {
    assert.equal(report.level, "L2");
    assert.match(report.problem ?? "", problem);
    assert.deepEqual(classes(report), ["files disabled", "shell disabled", "git disabled"]);
    for (const { reasons } of report.toolClasses) assert.match(reasons.join(), problem);
    assert.equal(report.shellBackend, "disabled");
    assert.equal(state(report, "watchdog"), undefined);
  }

  test("names AppArmor, and prints the profile that bubblewrap needs", async () => {
    const report = await withBubblewrap("bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted");
    assertDisabled(report, /AppArmor/);
    assert.match(fixes(report), new RegExp(`profile bwrap ${programs}/bwrap flags=\\(unconfined\\) {\n {2}userns,`));
    assert.deepEqual([state(report, "bubblewrap"), state(report, "namespaces")], ["holds", "fails"]);
  });

  test("names a container's filter of system calls, and prints its options", async () => {
    const report = await withBubblewrap("bwrap: No permissions to create new namespace, likely because ...");
    assertDisabled(report, /seccomp filter/);
    assert.match(fixes(report), /docker run --security-opt seccomp=unconfined --security-opt systempaths=unconfined/);
    assert.match(fixes(report), /podman run .*unmask=ALL[\s\S]*unprivileged_userns_clone=1/);
  });

  test("names a masked /proc", async () => {
    const report = await withBubblewrap("bwrap: Can't mount proc on /newroot/proc: Operation not permitted");
    assertDisabled(report, /masked paths/);
    assert.match(fixes(report), /systempaths=unconfined/);
    assert.ok(!fixes(report).includes("sysctl"));
  });

  test("names a bubblewrap that is setuid, or not there", async () => {
    const setuid = await withBubblewrap("", 0o4755);
    assertDisabled(setuid, /setuid root/);
    assert.equal(state(setuid, "namespaces"), "untried");
    assert.match(fixes(setuid), /sudo chmod u-s/);
    await rm(join(programs, "bwrap"));
    const missing = await examine({ programs: [programs] });
    assertDisabled(missing, /not installed/);
    assert.match(fixes(missing), /sudo apt-get install bubblewrap/);
  });

  test("tries every mechanism from inside, and finds this host fit", async () => {
    const report = await examine();
    const failed = report.mechanisms.filter(({ state }) => state === "fails").map(({ name }) => name);
    assert.deepEqual(failed, report.level === "L0" ? [] : ["control groups"]);
    assert.deepEqual(classes(report), ["files ready", "shell ready", "git ready"]);
    for (const name of ["process limits", "watchdog", "no process left", "node", "ripgrep", "git", "perl"]) {
      assert.equal(state(report, name), "holds", name);
    }
    assert.equal(report.mechanisms.filter(({ found }) => found === "").length, 0);
    assert.ok(report.toolchains.some(({ prefix, unusable }) => prefix === `${root}/tools` && unusable === undefined));
    assert.ok(report.path.startsWith(`${root}/tools/bin:/usr/local/bin`));
  });

  test("leaves the kernel's home and the directory as they were", async () => {
    await examine();
    assert.deepEqual(await readdir(directory), []);
    await assert.rejects(readdir(join(root, "kernel")), { code: "ENOENT" });
  });

  test("says what a workspace of root's means, and how to hand it over", async (context) => {
    const owned = join(root, "root's own");
    await mkdir(owned);
    const report = await examine({ directory: owned });
    if (!isRoot) {
      context.diagnostic("not root: tools are whoever runs this test, and write what they own");
      assert.equal(state(report, "workspace"), "holds");
      return;
    }
    assert.equal(state(report, "workspace"), "fails");
    assert.deepEqual(classes(report), ["files degraded", "shell degraded", "git degraded"]);
    assert.ok(fixes(report).includes(`sudo chown -R USER '${root}/root'\\''s own'`));
    assert.match(fixes(report), /chown -R USER/);
  });

  test("says that a directory can be no workspace, or cannot be entered by programs", async () => {
    const home = await examine({ userHome: directory });
    assert.equal(state(home, "workspace"), "untried");
    assert.deepEqual(classes(home), ["files ready", "shell ready", "git ready"]);
    if (!isRoot) return;
    const project = join(root, "closed/project");
    await mkdir(project);
    await chown(project, USER, USER);
    await chmod(join(root, "closed"), 0o700);
    const closed = await examine({ directory: project });
    const row = closed.mechanisms.find(({ name }) => name === "workspace");
    assert.match(row?.found ?? "", /closed` is closed to user 1000/);
    assert.match(closed.steps.map(({ title }) => title).join(), /open that directory to the user/);
    assert.deepEqual(classes(closed), ["files degraded", "shell degraded", "git degraded"]);
  });
});
