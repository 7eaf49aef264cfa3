import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { once } from "node:events";
import { chown, lstat, mkdir, readdir, readFile, rename, rm, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { setImmediate, setTimeout } from "node:timers/promises";
import { inspect, isDeepStrictEqual, promisify } from "node:util";
import { isKernelError } from "@narthex/contracts";
import { RUNS_ALL } from "../../../../test/sampled.ts";
import type { SandboxMount } from "./sandbox-plan.ts";
import { createTestSandbox, type TestSandbox } from "./testing/test-sandbox.ts";

/** What a program may find open: pipes, nothing, and its own list of open files. */
const OWN_FILE = /^(pipe|socket):|^\/dev\/null$|^\/proc\/|\/narthex-pipes-[^/]+\/[0-9a-f]+-\d+$/;

let sandbox: TestSandbox;
before(async () => {
  sandbox = await createTestSandbox();
});
after(() => sandbox.remove());

describe("a program in a sandbox", () => {
  test("that would run as root is not started", async () => {
    const refused = sandbox.start(["/bin/true"], { identity: { uid: 0, gid: 0 } });
    await assert.rejects(refused, (fault) => isKernelError(fault) && fault.code === "SANDBOX_ERROR");
  });

  test("is given no variable with which it could run code before it is limited", async () => {
    for (const name of [
      "LD_PRELOAD",
      "LD_AUDIT",
      "LD_LIBRARY_PATH",
      "GLIBC_TUNABLES",
      "LOCPATH",
      "GCONV_PATH",
      "SHELLOPTS",
    ]) {
      const refused = sandbox.start(["/bin/true"], { environment: { [name]: "/workspace/evil.so" } });
      await assert.rejects(refused, { code: "INVALID_INPUT", message: new RegExp(name) });
    }
  });

  test("over a directory that was replaced by another is not started", async () => {
    const [mount] = sandbox.plan.mounts;
    assert.ok(mount);
    const { dev, ino } = await lstat("/etc", { bigint: true });
    const mounts = [{ ...mount, guard: { device: dev, inode: ino } }];
    const started = await sandbox.start(["/bin/sh", "-c", "touch ran-anyway"], { mounts });
    await assert.rejects(started.ended, { code: "SANDBOX_ERROR", message: /was replaced/ });
    assert.ok(!(await readdir(sandbox.workspace)).includes("ran-anyway"));
  });

  test("whose sandbox cannot be made fails with SANDBOX_ERROR and bubblewrap's reason, not with an exit code", async () => {
    const missing = { mounts: [{ source: "/nowhere/at/all", target: "/workspace", access: "write" as const }] };
    await assert.rejects(sandbox.run("true", missing), (fault) => {
      assert.ok(isKernelError(fault));
      assert.equal(fault.code, "SANDBOX_ERROR");
      return /nowhere/.test(fault.message);
    });
  });

  test("whose working directory is not there is told so, and does not run", async () => {
    await assert.rejects(sandbox.run("true", { workingDirectory: "/workspace/none" }), {
      code: "FILE_NOT_FOUND",
      message: /`\/workspace\/none`/,
    });
  });

  test("that is killed at any moment of its start leaves nothing running, and ends", async () => {
    for (let round = 0; round < (RUNS_ALL ? 60 : 20); round++) {
      const started = await sandbox.start(["/bin/sleep", "1000"]);
      const closed = once(started.stdout.resume(), "close");
      const waitUntil = performance.now() + (round % 20) * 0.4;
      while (performance.now() < waitUntil) if (round % 3 === 0) await setImmediate();
      started.kill();
      // Bubblewrap may have the time to tell of it.
      const end = await started.ended.catch((fault: unknown) => (isKernelError(fault) ? fault.code : fault));
      assert.ok(end === "SANDBOX_ERROR" || isDeepStrictEqual(end, { exitCode: 128 + 9 }), inspect(end));
      await closed;
    }
  });

  test("that is held back when its kernel is killed does not begin", async () => {
    const script = `
      import { existsSync } from "node:fs";
      import { setTimeout } from "node:timers/promises";
      const { createTestSandbox } = await import(${JSON.stringify(new URL("./testing/test-sandbox.ts", import.meta.url).href)});
      const sandbox = await createTestSandbox();
      const { mounts: [mount] } = sandbox.plan;
      const mounts = [{ ...mount, source: process.argv[1] }];
      await sandbox.start(["/bin/sh", "-c", "touch ran-anyway"], { mounts }, async (pid) => {
        // Before that bubblewrap's child waits for bubblewrap, and would wait for ever.
        while (!existsSync(\`/proc/\${pid}/root/workspace\`)) await setTimeout(1);
        console.log(JSON.stringify({ pid, left: [sandbox.workspace, sandbox.machine.directory] }));
        return new Promise(() => undefined);
      });`;
    const words = ["--input-type=module", "-e", script, sandbox.workspace];
    const kernel = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
    const exited = once(kernel, "exit");
    const [line] = (await once(kernel.stdout, "data")) as [Buffer];
    const { pid, left } = JSON.parse(line.toString()) as { pid: number; left: string[] };
    kernel.kill("SIGKILL");
    await exited;
    while (await stat(`/proc/${pid}`).catch(() => undefined)) await setTimeout(5);
    assert.ok(!(await readdir(sandbox.workspace)).includes("ran-anyway"));
    for (const path of left) await rm(path, { recursive: true, force: true });
  });

  test("that exits with 1, or cannot be found, has an exit code", async () => {
    assert.equal((await sandbox.run("exit 1")).exitCode, 1);
    assert.equal((await sandbox.run("exec /no/such/program")).exitCode, 127);
    assert.equal((await sandbox.run("kill -9 $$")).exitCode, 128 + 9);
  });

  test("sees its workspace, what it writes belongs to the workspace's owner, and nothing else of the host is there", async () => {
    const { stdout } = await sandbox.run(
      "echo made > made; pwd; ls -A /; ls -A /etc; ls -A /home /root /work 2>&1; env",
    );
    const lines = stdout.split("\n");
    assert.equal(lines[0], "/workspace");
    const { uid, gid } = await stat(join(sandbox.workspace, "made"));
    assert.deepEqual({ uid, gid }, sandbox.identity);
    const roots = lines.filter((line) => /^(bin|dev|etc|lib\w*|proc|sbin|tmp|usr|workspace|\.sandbox-\w+)$/.test(line));
    assert.ok(roots.includes("workspace") && roots.includes("usr"));
    for (const name of ["root", "home", "var", "sys", "run", "mnt"]) assert.ok(!lines.includes(name), name);
    assert.ok(!stdout.includes("shadow"));
    const variables = lines.filter((line) => /^[A-Z_]+=/.test(line)).map((line) => line.split("=")[0]);
    assert.deepEqual(new Set(variables), new Set(["PATH", "PWD"]));
  });

  test("has no capability, no network but its own loopback, and no way to the kernel's settings", async () => {
    const script = `grep -E '^(CapEff|NoNewPrivs|Seccomp):' /proc/self/status | tr -s '\\t' ' '
      cut -d: -f1 /proc/net/dev | tail -n +3 | tr -d ' '
      (echo x > /proc/sys/kernel/hostname) 2>&1; (echo x > /usr/x) 2>&1; (echo x > /x) 2>&1; (echo x > /dev/x) 2>&1`;
    const { stdout } = await sandbox.run(script);
    assert.match(stdout, /CapEff: 0+\nNoNewPrivs: 1\nSeccomp: 2\nlo\n/);
    assert.equal(stdout.match(/cannot create/g)?.length, 4);
  });

  test("cannot reach the sandbox's own first process", async () => {
    const { stdout } = await sandbox.run(
      "ls -A /proc/1 | wc -l; for f in mem task/1/mem environ; do (exec 3<>/proc/1/$f) 2>/dev/null && echo open; done; echo 1 > /proc/1/x || true",
    );
    assert.equal(stdout, "0\n");
  });

  test("inherits no open file, whatever this process was started with", async () => {
    const script = `
      import { createTestSandbox } from ${JSON.stringify(import.meta.resolve("./testing/test-sandbox.ts"))};
      const sandbox = await createTestSandbox();
      const { stdout } = await sandbox.run("for f in /proc/self/fd/*; do readlink $f; done");
      console.log(JSON.stringify({ inherited: sandbox.machine.inherited, stdout }));
      await sandbox.remove();
    `;
    // 200 is a directory of the host, as a careless parent would leave it open.
    const command = `exec 200</etc; exec "$0" --input-type=module-typescript -e "$1"`;
    const { stdout } = await promisify(execFile)("/bin/bash", ["-c", command, process.execPath, script]);
    const found = JSON.parse(stdout) as { inherited: number[]; stdout: string };
    assert.ok(found.inherited.includes(200));
    assert.ok(!found.stdout.split("\n").includes("/etc"));
    for (const line of found.stdout.trim().split("\n")) assert.match(line, OWN_FILE);
  });

  test("can open its own output again by name", async () => {
    const { stdout, stderr } = await sandbox.run("echo out > /dev/stdout; echo err > /dev/stderr");
    assert.deepEqual([stdout, stderr], ["out\n", "err\n"]);
  });

  test("shows neither options nor environment in the list of processes", async () => {
    const started = await sandbox.start(["/bin/sleep", "60"], { environment: { SECRET: "swordfish-in-environment" } });
    const inside = await started.pid;
    for (const name of await readdir("/proc")) {
      if (!/^\d+$/.test(name)) continue;
      const line = await readFile(`/proc/${name}/cmdline`, "latin1").catch(() => "");
      assert.ok(!line.includes("swordfish-in-environment"), line);
      if (line.includes("bwrap")) assert.ok(!line.includes(sandbox.workspace), line);
    }
    assert.ok(inside > 0);
    started.kill();
    await started.ended.catch(() => undefined);
  });

  test("is killed with everything it started, however it hides", async () => {
    const script =
      "(setsid sh -c 'trap \"\" TERM INT HUP; while :; do sleep 1; done' &) ; echo started; while :; do sleep 1; done";
    const started = await sandbox.start(["/bin/sh", "-c", script]);
    await new Promise((resolve) => started.stdout.once("data", resolve));
    const pid = await started.pid;
    const namespace = await namespaceOf(pid);
    started.kill();
    await started.ended.catch(() => undefined);
    for (let tries = 0; (await processesIn(namespace)) > 0; tries++) {
      assert.ok(tries < 200, "processes are left");
      await setTimeout(10);
    }
  });

  test("without leave to start processes is killed when it starts one", async () => {
    const { stdout, exitCode } = await sandbox.run("echo alone; /bin/true; echo after", { mayFork: false });
    assert.deepEqual([stdout, exitCode], ["alone\n", 128 + 31]);
  });

  test("meets its limits: processes, file size, open files, temporary space", async () => {
    const limits = { ...sandbox.plan.limits, processes: 20, fileBytes: 1024 * 1024, openFiles: 16 };
    const full = await sandbox.run("head -c 3000000 /dev/zero > /tmp/big; echo $?", {
      temporaryBytes: 2 * 1024 * 1024,
    });
    assert.match(full.stderr, /No space left/);
    const large = await sandbox.run("head -c 3000000 /dev/zero > big; wc -c < big", { limits });
    assert.match(large.stdout, /^1048576$/m);
    const many = await sandbox.run("i=0; while [ $i -lt 60 ]; do sleep 5 & i=$((i+1)); done; wait", { limits });
    assert.match(many.stderr, /[Cc]annot fork|Resource temporarily unavailable/);
  });
});

describe("a guarded path inside a writable workspace", () => {
  test("can be neither written, nor renamed away with its parent", async () => {
    const git = join(sandbox.workspace, ".git");
    await mkdir(join(git, "hooks"), { recursive: true });
    await writeFile(join(git, "config"), "sound");
    await own(git, join(git, "hooks"), join(git, "config"));
    const mounts = [
      ...sandbox.plan.mounts,
      await guardAt(".git", "write"),
      await guardAt(".git/hooks", "read"),
      await guardAt(".git/config", "read"),
    ];
    const script = `echo evil > .git/config; echo evil > .git/hooks/pre-commit; mv .git gone; rm -rf .git/hooks; echo fine > .git/HEAD`;
    const { stderr } = await sandbox.run(script, { mounts });
    assert.match(stderr, /Read-only file system/);
    assert.match(stderr, /busy/);
    assert.equal(await readFile(join(git, "config"), "utf8"), "sound");
    assert.equal(await readFile(join(git, "HEAD"), "utf8"), "fine\n");
    assert.deepEqual(await readdir(join(git, "hooks")), []);
  });

  test("that was swapped for a link before the mount is noticed, and nothing runs", async () => {
    const guarded = join(sandbox.workspace, "guarded");
    const secret = join(sandbox.workspace, "..", `secret-${process.pid}`);
    await mkdir(guarded);
    await mkdir(secret, { recursive: true });
    await own(guarded);
    const mounts = [...sandbox.plan.mounts, await guardAt("guarded", "write")];
    const starting = sandbox.start(["/bin/sh", "-c", "touch /workspace/guarded/x; touch /workspace/ran"], { mounts });
    // Between the look at the path and the mount: what a second sandbox on the same workspace would do.
    await rename(guarded, `${guarded}-away`);
    await symlink(secret, guarded);
    const started = await starting.catch((fault: unknown) => fault);
    if (!(started instanceof Error)) {
      const { ended } = started as Awaited<typeof starting>;
      const outcome = await ended.then(
        () => "ran",
        (fault: unknown) => (isKernelError(fault) ? fault.code : String(fault)),
      );
      const ran = (await readdir(sandbox.workspace)).includes("ran");
      assert.equal(ran, outcome === "ran");
    }
    // Whoever was first, the program never got to write where the link leads.
    assert.deepEqual(await readdir(secret), []);
  });
});

async function guardAt(path: string, access: "read" | "write"): Promise<SandboxMount> {
  const source = join(sandbox.workspace, path);
  const { dev, ino } = await lstat(source, { bigint: true });
  return { source, target: `/workspace/${path}`, access, guard: { device: dev, inode: ino } };
}

async function own(...paths: string[]): Promise<void> {
  if (process.getuid?.() !== 0) return;
  for (const path of paths) await chown(path, sandbox.identity.uid, sandbox.identity.gid);
}

async function namespaceOf(pid: number | string): Promise<string> {
  return String((await stat(`/proc/${pid}/ns/pid`).catch(() => ({ ino: "" }))).ino);
}

async function processesIn(namespace: string): Promise<number> {
  const pids = (await readdir("/proc")).filter((name) => /^\d+$/.test(name));
  const found = await Promise.all(pids.map(namespaceOf));
  return found.filter((candidate) => candidate !== "" && candidate === namespace).length;
}
