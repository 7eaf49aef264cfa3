import assert from "node:assert/strict";
import { chmod, chown, lstat, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, beforeEach, describe, test } from "node:test";
import { type Containment, openContainment } from "../sandbox/open-containment.ts";
import { readAll } from "../sandbox/read-all.ts";
import { HOME_PATH, type SandboxPlan, WORKSPACE_PATH } from "../sandbox/sandbox-plan.ts";
import { createTestSandbox, type TestSandbox } from "../sandbox/testing/test-sandbox.ts";
import { openWorkspaceCache, type WorkspaceCache, type WorkspaceCacheOptions } from "./workspace-cache.ts";

const MB = 1024 * 1024;
const isRoot = process.getuid?.() === 0;

describe("a workspace's cache", () => {
  let sandbox: TestSandbox;
  let containment: Containment;
  let root: string;
  let open: (changes?: Partial<WorkspaceCacheOptions>) => Promise<WorkspaceCache>;

  before(async () => {
    sandbox = await createTestSandbox();
    containment = await openContainment({ directory: sandbox.machine.directory });
  });
  after(() => sandbox.remove());

  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "narthex-cache-"));
    await chmod(root, 0o755);
    open = (changes = {}) =>
      openWorkspaceCache({
        containment,
        directory: join(root, "kernel", "cache"),
        fallbackDirectory: join(root, "other"),
        workspace: sandbox.workspace,
        identity: sandbox.identity,
        maxBytes: 4 * MB,
        delayMs: 0,
        ...changes,
      });
  });

  async function run(cache: WorkspaceCache, script: string): Promise<string> {
    const use = await cache.enter();
    const plan: SandboxPlan = {
      ...sandbox.plan,
      mounts: [...sandbox.plan.mounts, use.mount],
      environment: { PATH: "/usr/bin:/bin", HOME: HOME_PATH },
    };
    const program = await containment.start(plan, ["/bin/sh", "-c", script]);
    program.stdin.end();
    const [output, errors] = await Promise.all([
      readAll(program.stdout, MB),
      readAll(program.stderr, MB),
      program.ended,
    ]);
    await use.leave();
    return `${output.toString()}${errors.toString()}`.trim();
  }

  test("is HOME, persists, and no other workspace sees it", async () => {
    const other = await mkdtemp(join(tmpdir(), "narthex-other-"));
    try {
      assert.equal(await run(await open(), 'cd && pwd && echo mine > "$HOME/note"'), HOME_PATH);
      assert.equal(await run(await open(), "cat ~/note"), "mine");
      assert.match(await run(await open({ workspace: other }), "ls -A ~; cat ~/note"), /No such file/);
      const link = join(root, "link");
      await symlink(sandbox.workspace, link);
      assert.equal(await run(await open({ workspace: link }), "cat ~/note"), "mine");
    } finally {
      await rm(other, { recursive: true });
      await rm(root, { recursive: true });
    }
  });

  test("belongs to the user that programs run as, in a directory that other users cannot list", async () => {
    const { path } = await open();
    const facts = await stat(path);
    assert.deepEqual([facts.uid, facts.mode & 0o777], [sandbox.identity.uid, 0o700]);
    const parent = await stat(join(path, ".."));
    assert.deepEqual([parent.uid, parent.mode & 0o066], [process.getuid?.(), 0]);
    await rm(root, { recursive: true });
  });

  test("is refused if it is a link or belongs to another user", async () => {
    const { path } = await open();
    await rm(path, { recursive: true });
    const elsewhere = join(root, "elsewhere");
    await mkdir(elsewhere);
    await symlink(elsewhere, path);
    await assert.rejects(open(), { code: "SANDBOX_ERROR", message: /is no cache of user/ });
    if (isRoot) {
      await rm(path);
      await mkdir(path);
      await chown(path, sandbox.identity.uid + 1, sandbox.identity.gid);
      await assert.rejects(open(), { code: "SANDBOX_ERROR", message: /is no cache of user/ });
    }
    await rm(root, { recursive: true });
  });

  test("lies elsewhere if programs cannot reach the kernel's home", async () => {
    await mkdir(join(root, "kernel"), { mode: 0o700 });
    const { path } = await open();
    // An ordinary user is the same inside and reaches its own home.
    assert.ok(path.startsWith(join(root, isRoot ? "other" : "kernel")), path);
    await rm(root, { recursive: true });
  });

  test("over its limit loses what was not changed for the longest, in whole units", async () => {
    const cache = await open();
    await run(
      cache,
      "mkdir -p ~/.cache/old && head -c 1500000 /dev/zero > ~/.cache/old/a && cp ~/.cache/old/a ~/.cache/old/b",
    );
    await run(
      cache,
      "until [ $(date +%s) -gt $(stat -c %Z ~/.cache/old) ]; do sleep 0.05; done; mkdir -p ~/.cache/new && head -c 2500000 /dev/zero > ~/.cache/new/a; echo kept > ~/.profile",
    );
    assert.equal(await run(cache, "ls -A ~ ~/.cache"), `${HOME_PATH}:\n.cache\n.profile\n\n${HOME_PATH}/.cache:\nnew`);
    await rm(root, { recursive: true });
  });

  test("of hostile names, closed directories and links is emptied, and nothing beside it", async () => {
    const outside = join(root, "outside");
    await writeFile(outside, "stays", { mode: 0o666 });
    const cache = await open();
    await run(
      cache,
      `cd && mkdir -p -- "-rf" "a
b/c" closed/in && ln -s ${outside} link && ln -s / root && ln -s ${WORKSPACE_PATH} w &&
      head -c 5000000 /dev/zero > "a
b/c/d" && head -c 5000000 /dev/zero > closed/in/x && chmod 0 closed/in closed`,
    );
    assert.ok((await stat(outside)).size === 5);
    // All was changed in the same moment: how much had to go is not ours to say, only that it fits now.
    const left = await run(cache, "du -skx ~ | cut -f 1");
    assert.ok(Number(left) <= 4096, left);
    await rm(root, { recursive: true });
  });

  test("of too many files is emptied at once", async () => {
    const cache = await open({ maxBytes: MB });
    await run(cache, "cd && head -c 2000000 /dev/zero > big && seq 1 1200 | xargs touch");
    assert.deepEqual(await readdir(cache.path), []);
    await rm(root, { recursive: true });
  });

  test("is refused over twice its limit while in use, and emptied when unused", async () => {
    const cache = await open({ maxBytes: MB });
    const user = await cache.enter();
    await run(cache, "head -c 1500000 /dev/zero > ~/x");
    await (await cache.enter()).leave();
    await run(cache, "head -c 1500000 /dev/zero > ~/y");
    await assert.rejects(cache.enter(), { code: "RESOURCE_EXCEEDED", message: /at most 1 MB .* holds 3 MB/ });
    await user.leave();
    await (await cache.enter()).leave();
    assert.equal((await readdir(cache.path)).length <= 1, true);
    await rm(root, { recursive: true });
  });

  test("is measured once for many programs in a row, and soon after the last", async () => {
    let measured = 0;
    const again = Promise.withResolvers<void>();
    const counting: Pick<Containment, "start"> = {
      async start(plan, command) {
        measured++;
        const program = await containment.start(plan, command);
        if (measured === 2) program.ended.then(() => again.resolve(), again.reject);
        return program;
      },
    };
    const patient = await open({ containment: counting, delayMs: 600_000 });
    for (let calls = 0; calls < 10; calls++) await run(patient, "echo more >> ~/x");
    assert.equal(measured, 1);
    measured = 0;
    const prompt = await open({ containment: counting, delayMs: 1 });
    const use = await prompt.enter();
    assert.equal(measured, 1);
    await use.leave();
    // The timer keeps nothing alive, so something else has to.
    const alive = setInterval(() => undefined, 1000);
    await again.promise.finally(() => clearInterval(alive));
    await rm(root, { recursive: true });
  });

  test("that grew beyond its limit is brought within it before the next program, once it was measured", async () => {
    const cache = await open({ maxBytes: MB });
    await run(cache, "head -c 1500000 /dev/zero > ~/x");
    assert.equal(await run(cache, "ls -A ~"), "");
    await rm(root, { recursive: true });
  });

  test("found over its limit at start is brought within it before a program runs", async () => {
    const first = await open({ maxBytes: 64 * MB });
    await run(first, "head -c 9000000 /dev/zero > ~/x");
    assert.equal(await run(await open({ maxBytes: MB }), "ls -A ~"), "");
    await rm(root, { recursive: true });
  });

  test("that cannot be measured is not used", async () => {
    const broken: Pick<Containment, "start"> = {
      start: (plan) => containment.start(plan, ["/bin/false"]),
    };
    const cache = await open({ containment: broken });
    await assert.rejects(cache.enter(), { code: "RESOURCE_EXCEEDED", message: /more than can be counted/ });
    assert.ok((await lstat(cache.path)).isDirectory());
    await rm(root, { recursive: true });
  });
});
