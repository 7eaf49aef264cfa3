import assert from "node:assert/strict";
import { chown, mkdir, readdir, readFile, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { setTimeout } from "node:timers/promises";
import { createClient } from "@connectrpc/connect";
import { blake3, create, KernelService, toHex, ToolRequestSchema } from "@narthex/contracts";
import { connectTo, createShellKernel, processesWith, type ShellKernel } from "./shell-kernel.ts";

let at: ShellKernel;
before(async () => {
  process.env["NARTHEX_TEST_LEAK"] = "leaked-from-the-kernel";
  at = await createShellKernel("session");
});
after(async () => {
  delete process.env["NARTHEX_TEST_LEAK"];
  await at.remove();
});

describe("a session's shell", { timeout: 240_000 }, () => {
  it("keeps directory, variables, functions, options and background processes between calls", async () => {
    const shell = await at.open();
    const first = await shell.run(
      "mkdir -p sub; cd sub; plain=1; export SHARED=two; greet() { echo hello $1; }; sleep 300 & echo $! > pid",
    );
    assert.deepEqual([first.code, first.notes], [0, []]);
    const second = await shell.run('pwd; echo $plain; sh -c "echo $SHARED"; greet you; kill -0 $! && jobs; kill %1');
    assert.match(second.out, /^\/workspace\/sub\n1\ntwo\nhello you\n\[1\]\+\s+Running\s+sleep 300 &\n$/);
    assert.equal(second.err, "");
    assert.deepEqual(second.notes, []);
  });

  it("keeps both outputs separate and byte-exact, with the exact exit code", async () => {
    const shell = await at.open();
    const both = await shell.run("printf 'a\\0b\\377c'; printf 'd\\n' >&2; (exit 213)");
    assert.deepEqual([both.code, both.out, both.err], [213, "a\0b\ufffdc", "d\n"]);
    const answer = await shell.ask("shell_exec", {
      command: "head -c 3000000 /dev/zero; head -c 1000000 /dev/zero >&2",
    });
    const [stdout, stderr] = [answer["stdout"], answer["stderr"]] as Array<Record<string, unknown>>;
    for (const [output, size] of [
      [stdout, 3_000_000],
      [stderr, 1_000_000],
    ] as const) {
      assert.deepEqual([output?.["size"], output?.["cut"]], [size, true]);
      assert.equal(output?.["hash"], toHex(blake3(Buffer.alloc(size))));
    }
    const nothing = await shell.run("true");
    assert.deepEqual([nothing.code, nothing.out, nothing.err], [0, "", ""]);
  });

  it("gives a command its input, variables and directory for that call, and nothing of the kernel's", async () => {
    const shell = await at.open();
    const stdin = "first\nsecond \\n 'quoted' \0 $HOME\n";
    const fed = await shell.run("cat; echo $EXTRA", { stdin, env: { EXTRA: `it's "$HOME" \\` } });
    assert.equal(fed.out, `${stdin}it's "$HOME" \\\n`);
    const next = await shell.run("cat; echo [$EXTRA]; env");
    assert.match(next.out, /^\[\]\n/);
    const names = next.out.split("\n").flatMap((line) => /^([A-Za-z_]\w*)=/.exec(line)?.[1] ?? []);
    const known =
      /^(PATH|HOME|USER|LOGNAME|SHELL|LANG|TZ|TERM|TMPDIR|NARTHEX_SCRATCH|PWD|OLDPWD|SHLVL|_|[A-Z]+_HOME|GIT_CONFIG_(COUNT|KEY_\d|VALUE_\d))$/;
    assert.deepEqual(
      names.filter((name) => !known.test(name)),
      [],
    );
    const leak = await shell.run(
      "cat /proc/self/environ /proc/$$/environ /proc/1/environ 2>/dev/null | tr '\\0' '\\n'",
    );
    assert.ok(!leak.out.includes("leaked-from-the-kernel"));
    await mkdir(join(at.workspace, "elsewhere"));
    assert.equal((await shell.run("pwd", { cwd: "elsewhere" })).out, "/workspace/elsewhere\n");
  });

  it("survives break, return, exec of files and mistakes in a command", async () => {
    const shell = await at.open();
    await shell.run("kept=yes");
    for (const command of [
      "break 5",
      "continue",
      "return 4",
      "if then",
      "exec > /tmp/out; echo x",
      "no-such-program",
    ]) {
      await shell.run(command);
    }
    const after = await shell.run("echo $kept; cat /tmp/out");
    assert.deepEqual([after.out, after.notes], ["yes\nx\n", []]);
  });

  it("is replaced when a command ends it, and both responses say so", async () => {
    const shell = await at.open();
    const ended = await shell.run("gone=1; echo last words; exit 7");
    assert.deepEqual([ended.code, ended.out], [7, "last words\n"]);
    assert.match(ended.notes.join(), /shell has ended/);
    const next = await shell.run("echo [$gone]");
    assert.equal(next.out, "[]\n");
    assert.match(next.notes.join(), /fresh shell was started/);
    assert.deepEqual((await shell.run("true")).notes, []);
    const replaced = await shell.run("exec sh -c 'echo replaced; exit 5'");
    assert.deepEqual([replaced.code, replaced.out], [5, "replaced\n"]);
  });

  it("runs one command at a time, also for concurrent calls", async () => {
    const shell = await at.open();
    const ran = await Promise.all(
      [1, 2, 3, 4, 5].map((number) =>
        shell.run(`echo begin ${number} >> order; sleep 0.05; echo end ${number} >> order`),
      ),
    );
    assert.deepEqual(new Set(ran.map(({ code }) => code)), new Set([0]));
    const { out } = await shell.run("cat order");
    // Calls that are made at once have no order among them.
    assert.deepEqual(
      out.split(/^(?=begin)/m).toSorted(),
      [1, 2, 3, 4, 5].map((number) => `begin ${number}\nend ${number}\n`),
    );
  });

  it("is killed at the time-out with the whole tree, keeps its output, and says that its state is lost", async () => {
    const shell = await at.open();
    const mark = `narthex-tree-${process.pid}`;
    const daemon = `(setsid bash -c 'trap "" TERM INT HUP; exec -a ${mark} sleep 300' &)`;
    const stopped = `(bash -c 'kill -STOP $$' ${mark} &)`;
    await shell.run("lost=1");
    const command = `${daemon}; ${stopped}; echo printed before; sleep 300`;
    const refused = await shell.refused("shell_exec", { command, timeout_ms: 700 });
    assert.equal(refused.code, "TIMEOUT");
    assert.match(refused.message, /its variables, directory and background processes are lost/);
    assert.equal(refused.printed, "printed before\n");
    const hash = toHex(blake3(Buffer.from("printed before\n")));
    const { response } = await shell.session.call("result_read", { hash });
    assert.ok(response.result.case === "success");
    assert.equal(Buffer.from(response.result.value.inlineResult).toString(), "printed before\n");
    await gone(mark);
    assert.equal((await shell.run("echo [$lost]")).out, "[]\n");
  });

  it("is killed at the time-out if it stops itself or never becomes idle", async () => {
    const shell = await at.open();
    for (const command of ["kill -STOP $$", "while :; do :; done", "trap '' TERM; while :; do :; done"]) {
      assert.equal((await shell.refused("shell_exec", { command, timeout_ms: 300 })).code, "TIMEOUT", command);
    }
    assert.equal((await shell.run("echo on")).out, "on\n");
  });

  it("is killed with the command when the call is cancelled", async () => {
    const shell = await at.open();
    const mark = `narthex-cancel-${process.pid}`;
    const command = `(exec -a ${mark} sleep 300)`;
    const running = shell.session.call("shell_exec", { command }, { requestId: "to-be-cancelled" });
    while ((await processesWith(mark)).length === 0) await setTimeout(10);
    const client = createClient(KernelService, connectTo(at.kernel));
    const tool = { case: "cancel", value: { requestId: "to-be-cancelled" } } as const;
    await client.call(create(ToolRequestSchema, { requestId: "cancel", sessionToken: shell.session.token, tool }));
    const { result } = (await running).response;
    assert.ok(result.case === "error");
    assert.equal(result.value.errorCode, "CANCELLED");
    await gone(mark);
  });

  it("mistakes no printed text for the end of a command", async () => {
    const shell = await at.open();
    const forged = await shell.run("for i in 1 2 3; do echo 0; printf '0\\n' >&2; printf '%048d' 0; done; false");
    assert.equal(forged.code, 1);
    assert.equal(forged.out, `0\n${"0".repeat(48)}`.repeat(3));
    assert.equal(forged.err, "0\n".repeat(3));
  });

  it("gives the programs of a command no means to report its end", async () => {
    const shell = await at.open();
    const attempt = "for f in /proc/[0-9]*/fd/*; do printf '0\\n' > $f; done 2>/dev/null; printf '0\\n' >&12";
    const forged = await shell.run(
      `bash -c ${JSON.stringify(attempt).replaceAll("$", "\\$")} 2>/dev/null; echo honest; exec 2>/dev/null; (exit 9)`,
    );
    assert.equal(forged.code, 9);
    assert.match(forged.out, /honest\n$/);
    const open = await shell.run("ls -l /proc/self/fd | grep -c socket");
    assert.equal(open.out, "0\n", "a program inherits no socket: the channel is one");
  });

  it("is killed and fails the call if it reports an unexpected end", async () => {
    const shell = await at.open();
    await shell.run("kept=1");
    // From inside bash itself, which keeps the channel under some other number.
    const command = "for i in {10..40}; do { printf '0\\n' >&$i; } 2>/dev/null; done; sleep 0.2; touch too-late";
    const refused = await shell.refused("shell_exec", { command });
    assert.equal(refused.code, "SANDBOX_ERROR");
    assert.match(refused.message, /reported an end that was not due/);
    assert.equal((await shell.run("echo [$kept]")).out, "[]\n");
  });

  it("counts and drops the output of processes while no command ran", async () => {
    const shell = await at.open();
    await shell.run("(while [ ! -e go ]; do sleep 0.02; done; echo from behind; touch done) & true");
    await writeFile(join(at.workspace, "go"), "");
    while (!(await readdir(at.workspace)).includes("done")) await setTimeout(10);
    await setTimeout(50);
    const next = await shell.run("echo mine");
    assert.equal(next.out, "mine\n");
    assert.match(next.notes.join(), /^12 bytes that processes in the background printed/);
  });

  it("shares neither processes nor scratch files nor variables with another session of the workspace", async () => {
    const [one, other] = [await at.open(), await at.open()];
    await one.run("secret=1; echo mine > /scratch/mine; echo tmp > /tmp/mine; sleep 300 & true");
    const look = "echo [$secret]; ls /scratch; ls /tmp/mine 2>&1; grep -al 'sleep' /proc/[0-9]*/cmdline; true";
    const seen = await other.run(look);
    assert.match(seen.out, /^\[\]\nls: cannot access '\/tmp\/mine': No such file or directory\n$/);
  });

  it("removes what a command created among the protected paths, fails the call, and continues", async () => {
    const workspace = await at.makeWorkspace();
    const shell = await at.open(workspace);
    const refused = await shell.refused("shell_exec", { command: "kept=1; echo evil > .envrc; echo fine > allowed" });
    assert.equal(refused.code, "UNDECLARED_EFFECT");
    assert.match(refused.message, /`\.envrc`/);
    const next = await shell.run("echo $kept; ls .envrc allowed");
    assert.match(next.out, /^1\nallowed\n$/);
    const again = await shell.refused("shell_exec", {
      command: "mkdir .narthex-taken/.git; cd .narthex-taken/.git; touch config HEAD",
    });
    assert.match(again.message, /`\.narthex-taken\/\.git\/config`/);
    assert.ok(
      !(await readdir(join(workspace, ".narthex-taken"))).includes(".git"),
      "a repository is around what was kept",
    );
  });

  it("detects what its background processes created among the protected paths between calls", async () => {
    const shell = await at.open();
    await shell.run("(while [ ! -e now ]; do sleep 0.02; done; echo evil > .npmrc; touch made) & true");
    await writeFile(join(at.workspace, "now"), "");
    while (!(await readdir(at.workspace)).includes("made")) await setTimeout(10);
    const next = await shell.run("cat .npmrc; echo done");
    assert.ok(!next.out.includes("evil"));
    assert.match(next.notes.join(), /protected paths of the workspace have changed/);
    assert.ok(!(await readdir(at.workspace)).includes(".npmrc"));
  });

  for (const ending of ["the next call", "the end of the session"]) {
    it(`replaced by a program that only pretends to be idle leaves no file at ${ending}`, async () => {
      const workspace = await at.makeWorkspace();
      const shell = await at.open(workspace);
      const pretends = [
        "exec 12>&2 13>&1 14>&22; mkfifo wait; exec 9<>wait",
        'for each in 1 2; do read -r line; eval "$line"; done',
        "until [ -e now ]; do read -t 0.01 -u 9; done",
        "echo evil > .npmrc; : > made",
        'while read -r line; do eval "$line"; done',
      ];
      const write = `printf '%s\n' ${pretends.map((line) => `'${line}'`).join(" ")} > pretends.sh`;
      const sockets = "for n in {10..30}; do case $(readlink /proc/$$/fd/$n) in socket:*) s+=($n);; esac; done";
      // Bash leaves what it keeps for itself to a program only as one of the first three.
      const replace = "exec 22>/proc/$$/fd/2; exec bash pretends.sh <&${s[0]} 2>&${s[1]}";
      const { code } = await shell.run(`${write}; ${sockets}; ${replace}`, { timeout_ms: 5000 });
      assert.equal(code, 0);
      await writeFile(join(workspace, "now"), "");
      while (!(await readdir(workspace)).includes("made")) await setTimeout(10);
      if (ending === "the next call") await shell.run("true");
      else await at.kernel.closeSession(shell.session.id);
      assert.ok(!(await readdir(workspace)).includes(".npmrc"), "it is still there");
    });
  }

  it("that was idle is not blamed for what people created among the protected paths", async () => {
    const workspace = await at.makeWorkspace();
    const shell = await at.open(workspace);
    await shell.run("kept=1");
    await writeFile(join(workspace, ".envrc"), "a person's own");
    const next = await shell.run("cat .envrc; echo evil >> .envrc");
    assert.equal(next.out, "a person's own");
    assert.match(next.err, /Permission denied|Read-only file system/);
    await writeFile(join(workspace, ".npmrc"), "another");
    await at.kernel.closeSession(shell.session.id);
    assert.deepEqual((await readdir(workspace)).sort(), [".envrc", ".npmrc"]);
  });

  it("is restarted when a protected path appears, so that the new path is guarded in it", async () => {
    const workspace = await at.makeWorkspace();
    const shell = await at.open(workspace);
    const other = await at.open(workspace);
    await shell.run("kept=1");
    await mkdir(join(workspace, ".git"));
    await writeFile(join(workspace, ".git", "config"), "sound");
    const { uid, gid } = await stat(workspace);
    for (const path of [".git", ".git/config"]) await chown(join(workspace, path), uid, gid);
    // The other session's shell stands on the new guards: the first one's has to leave for it.
    assert.equal((await other.run("cat .git/config")).out, "sound");
    const next = await shell.run("echo [$kept]; echo evil > .git/config");
    assert.equal(next.out, "[]\n");
    assert.match(next.err, /Read-only file system/);
    assert.match(next.notes.join(), /protected paths of the workspace have changed/);
  });

  it("is killed when a fork bomb reaches its limit or its time-out, and the next call has a fresh one", async () => {
    const shell = await at.open();
    const forkBomb = "bomb() { bomb | bomb & }; bomb; sleep 300";
    const refused = await shell.refused("shell_exec", { command: forkBomb, timeout_ms: 2000 });
    assert.ok(["TIMEOUT", "RESOURCE_EXCEEDED"].includes(refused.code), refused.code);
    assert.equal((await shell.run("echo alive")).out, "alive\n");
  });

  it("ends with its session, and leaves no process, mount or file", async () => {
    const shell = await at.open();
    const mark = `narthex-closed-${process.pid}`;
    await shell.run(`echo x > /scratch/x; (exec -a ${mark} sleep 300) & true`);
    const scratch = await findScratch(shell.session.id);
    assert.equal(scratch.length, 1);
    await at.kernel.closeSession(shell.session.id);
    await gone(mark);
    assert.deepEqual(await findScratch(shell.session.id), []);
    assert.ok(!(await readFile("/proc/self/mountinfo", "latin1")).includes(shell.session.id));
    const late = await shell.refused("shell_exec", { command: "true" });
    assert.match(late.code, /^SESSION_/);
  });
});

async function gone(mark: string): Promise<void> {
  for (let tries = 0; (await processesWith(mark)).length > 0; tries++) {
    assert.ok(tries < 500, "processes are left");
    await setTimeout(10);
  }
}

async function findScratch(sessionId: string): Promise<string[]> {
  const places = [at.root, "/var/cache/narthex"];
  const names = await Promise.all(places.map((place) => readdir(place, { recursive: true }).catch(() => [])));
  return names.flat().filter((name) => name.endsWith(`scratch-${sessionId}`));
}
