import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { link, mkdir, readFile, rename, stat, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import type { JsonObject } from "@narthex/contracts";
import { type AttackedKernel, type AttackSession, startAttackedKernel } from "./support/attacked-kernel.ts";
import { treeFacts } from "./support/tree-facts.ts";

const run = promisify(execFile);
const CHAIN = 45;

let at: AttackedKernel;
let session: AttackSession;
let untouched: Record<string, string>;

before(async () => {
  at = await startAttackedKernel();
  await furnish();
  session = await at.open();
  untouched = await treeFacts(at.outside);
});
after(async () => {
  // Deeper than a path may be long.
  await run("rm", ["-rf", at.workspace]);
  await at.remove();
});

/** Everything in a workspace that leads out of it, or blocks whoever opens it. */
async function furnish(): Promise<void> {
  const { outside } = at;
  await mkdir(at.at("directory"));
  await writeFile(at.at("directory/file"), "inside");
  await writeFile(at.at("plain"), "inside");
  await symlink(join(outside, "file"), at.at("link"));
  await symlink(outside, at.at("linked"));
  await symlink("../outside/file", at.at("relative-link"));
  await symlink(join(outside, "nothing-yet"), at.at("dangling"));
  await symlink("loop-b", at.at("loop-a"));
  await symlink("loop-a", at.at("loop-b"));
  await symlink("/proc/self/root", at.at("own-root"));
  await symlink("/proc/self/environ", at.at("own-environment"));
  await symlink(`/proc/${at.pid}/environ`, at.at("kernel-environment"));
  await symlink(`/proc/${at.pid}/root`, at.at("kernel-root"));
  await symlink("/proc/self/cwd", at.at("own-directory"));
  await symlink("/dev/zero", at.at("zeros"));
  await symlink(at.home, at.at("kernel-home"));
  let target = join(outside, "file");
  for (let number = 0; number < CHAIN; number++) {
    await symlink(target, at.at(`chain-${number}`));
    target = `chain-${number}`;
  }
  await run("mkfifo", [at.at("fifo")]);
  await run("/usr/bin/python3", [
    "-c",
    "import socket,sys; socket.socket(socket.AF_UNIX).bind(sys.argv[1])",
    at.at("socket"),
  ]);
  await at.own();
}

/** Paths that no tool may get anywhere with. */
const NOWHERE = (): readonly string[] => [
  "../outside/file",
  "directory/../../outside/file",
  "..\\outside\\file",
  join(at.outside, "file"),
  `${at.workspace}/../outside/file`,
  "/etc/passwd",
  "//etc/passwd",
  "/workspace/../etc/passwd",
  "/proc/self/environ",
  `/proc/self/root${at.outside}/file`,
  `/proc/${at.pid}/root${at.outside}/file`,
  "/proc/self/mem",
  "/proc/self/fd/0",
  "/proc/sys/kernel/core_pattern",
  "/proc/sysrq-trigger",
  "/dev/shm/x",
  "/dev/mem",
  "/dev/tcp/127.0.0.1/80",
  "/dev/zero",
  "link",
  "relative-link",
  "linked/file",
  "linked/new",
  "linked/directory/new",
  "dangling",
  "loop-a",
  "loop-a/file",
  "own-root/etc/passwd",
  `own-root${at.outside}/file`,
  "own-environment",
  "kernel-environment",
  `kernel-root${at.outside}/file`,
  "own-directory/../outside/file",
  "zeros",
  "kernel-home/narthex.yaml",
  `chain-${CHAIN - 1}`,
  "chain-10",
  "fifo",
  "socket",
  "plain/file",
  "plain\0",
  "a\0b",
  "x".repeat(256),
  `directory/${"x".repeat(300)}/file`,
  "d/".repeat(2100),
  "",
];

const REFUSALS = new Set([
  "PATH_ESCAPE",
  "INVALID_INPUT",
  "NOT_A_FILE",
  "NOT_A_DIRECTORY",
  "CAPABILITY_MISSING",
  "EXECUTION_FAILED",
]);
/** What goes only by the last name of a path may find nothing there, or a link that it does not follow. */
const HARMLESS = new Set([
  ...REFUSALS,
  "FILE_NOT_FOUND",
  "FILE_EXISTS",
  "DIRECTORY_NOT_EMPTY",
  "NO_MATCH",
  "NO_MATCHING_RULE",
]);

/** At the caller's deadline, or at a bound. */
const ENDED_EARLY = new Set(["TIMEOUT", "CANCELLED", "RESOURCE_EXCEEDED"]);

const READING: ReadonlyArray<readonly [string, (path: string) => JsonObject]> = [
  ["file_read", (path) => ({ path })],
  ["file_list", (path) => ({ path, recursive: true })],
];
const WRITING: ReadonlyArray<readonly [string, (path: string) => JsonObject]> = [
  ["file_write", (path) => ({ path, content: "attack" })],
  ["file_write", (path) => ({ path, content: "attack", append: true })],
  ["file_write", (path) => ({ path, content: "attack", create_only: true })],
  ["file_edit", (path) => ({ path, old_content: "secret", new_content: "attack" })],
];

async function assertUntouched(what: string): Promise<void> {
  assert.deepEqual(await treeFacts(at.outside), untouched, what);
  assert.equal(await readFile(at.at("plain"), "utf8"), "inside", what);
}

describe("paths that lead outside", { timeout: 240_000 }, () => {
  test("are read by no tool and block none", async () => {
    for (const path of NOWHERE()) {
      for (const [tool, input] of READING) {
        const answer = await session.call(tool, input(path));
        const what = `${tool} of \`${path.slice(0, 80)}\`: ${answer.code || JSON.stringify(answer.result)}`;
        assert.ok(!JSON.stringify(answer).includes(at.secret), what);
        assert.notEqual(answer.status, "success", what);
        assert.ok(HARMLESS.has(answer.code), what);
      }
    }
    await assertUntouched("reading");
  });

  test("are not written, created, edited or moved through by any tool", async () => {
    for (const path of NOWHERE()) {
      for (const [tool, input] of WRITING) {
        const answer = await session.call(tool, input(path));
        const what = `${tool} of \`${path.slice(0, 80)}\`: ${answer.code || JSON.stringify(answer.result)}`;
        assert.notEqual(answer.status, "success", what);
        assert.ok(HARMLESS.has(answer.code), what);
        await assertUntouched(what);
      }
      // In the place of a link it may come: the link goes, and what it leads to stays.
      await session.call("file_write", { path: "moving", content: "attack" });
      await session.call("file_move", { source: "moving", destination: path, overwrite: true });
      await assertUntouched(`file_move to \`${path.slice(0, 80)}\``);
    }
    await session.shell("rm -rf * ");
    await furnish();
  });

  test("deleting or moving a link affects only the link, not its target", async () => {
    for (const path of ["link", "linked", "dangling", "chain-10", "zeros", "own-root", "kernel-home"]) {
      const moved = await session.call("file_move", { source: path, destination: `moved-${path}` });
      const deleted = await session.call("file_delete", {
        path: moved.status === "success" ? `moved-${path}` : path,
        recursive: true,
      });
      assert.ok(deleted.status === "success" || HARMLESS.has(deleted.code), `${path}: ${deleted.code}`);
      await assertUntouched(path);
    }
    for (const path of NOWHERE().filter((one) => one.includes("outside") || one.startsWith("linked/"))) {
      const deleted = await session.call("file_delete", { path, recursive: true });
      assert.notEqual(deleted.status, "success", path);
      await assertUntouched(path);
    }
    assert.ok((await stat(at.home)).isDirectory());
  });

  test("a hard link to a file outside is replaced instead of written through", async () => {
    await link(join(at.outside, "file"), at.at("hard"));
    untouched = await treeFacts(at.outside);
    for (const [tool, input] of WRITING.filter(([tool]) => tool !== "file_move")) {
      await session.call(tool, input("hard"));
      assert.equal(await readFile(join(at.outside, "file"), "utf8"), at.secret, tool);
    }
    await session.call("file_delete", { path: "hard" });
    assert.equal(await readFile(join(at.outside, "file"), "utf8"), at.secret);
    untouched = await treeFacts(at.outside);
  });

  test("programs cannot create a hard link to a mounted file, nor read outside through links they create", async () => {
    const { stdout } = await session.shell(
      [
        "ln /usr/bin/env hard-env 2>/dev/null && echo linked /usr",
        "ln ~/.. hard-home 2>/dev/null && echo linked home",
        "ln /proc/1/fd/1 hard-fd 2>/dev/null && echo linked fd",
        `ln -s ${at.outside}/file made; cat made 2>/dev/null && echo read`,
        `echo attack 2>/dev/null > made && echo written`,
        `mkdir -p made-directory; ln -s ${at.outside} made-directory/out; echo attack > made-directory/out/new && echo created`,
        "true",
      ].join("\n"),
    );
    assert.equal(stdout, "");
    const read = await session.call("file_read", { path: "made" });
    assert.deepEqual([read.status, read.code], ["error", "PATH_ESCAPE"]);
    await assertUntouched("by links from inside");
  });

  test("a working directory outside is rejected or gives no access", async () => {
    for (const cwd of [
      "..",
      "/etc",
      "/",
      "/proc/self/root",
      "linked",
      "made-directory/out",
      "own-root",
      "fifo",
      at.outside,
      at.home,
    ]) {
      const answer = await session.call("shell_exec", { command: "cat file narthex.yaml; ls; touch here", cwd });
      assert.ok(!JSON.stringify(answer).includes(at.secret), cwd);
      assert.notEqual(answer.status, "success", `${cwd}: ${JSON.stringify(answer.result)}`);
      await assertUntouched(cwd);
    }
  });
});

describe("names and sizes that break their reader", { timeout: 240_000 }, () => {
  test("files named like options or patterns, or with invalid text, are ordinary files", async () => {
    const names = [
      "new\nline",
      "back\\slash",
      "[x]",
      "*",
      "-rf",
      "--help",
      " ",
      "..hidden",
      "...",
      "ü",
      "\u202ereversed",
    ];
    for (const name of names.filter((one) => !one.includes("\\"))) {
      const written = await session.call("file_write", { path: `odd/${name}`, content: name });
      assert.equal(written.status, "success", `${JSON.stringify(name)}: ${written.message}`);
      assert.equal((await session.call("file_read", { path: `odd/${name}` })).result, name);
    }
    await session.shell("cd odd && printf x > $'\\xff\\xfe' && printf x > $'a\\xc3('");
    const listed = await session.call("file_list", { path: "odd" });
    assert.equal(listed.status, "success", listed.message);
    assert.equal((await session.call("file_delete", { path: "odd/*" })).status, "success");
    assert.equal(await readFile(at.at("odd/[x]"), "utf8"), "[x]");
    const deleted = await session.call("file_delete", { path: "odd", recursive: true });
    assert.ok(
      deleted.status === "success" || deleted.code === "EXECUTION_FAILED",
      `${deleted.code} ${deleted.message}`,
    );
    assert.equal((await session.shell("rm -rf odd; ls -d odd")).stdout, "");
  });

  test("a sparse file of 1 TB is read in part, without filling memory or disk", async () => {
    await run("truncate", ["-s", "1T", at.at("sparse")]);
    const part = await session.call("file_read", { path: "sparse", offset: 2 ** 39, limit: 4 });
    assert.deepEqual([part.status, part.result], ["success", "\0\0\0\0"]);
    const whole = await session.call("file_read", { path: "sparse" }, { timeoutMs: 1000 });
    assert.equal(whole.status, "error", "1 TB was read");
    assert.ok(ENDED_EARLY.has(whole.code), whole.code);
    for (const [tool, input] of [
      ["file_edit", { path: "sparse", old_content: "x", new_content: "y" }],
      ["file_write", { path: "sparse", content: "x", append: true }],
      ["file_delete", { path: "sparse" }],
    ] as const) {
      const { status, code } = await session.call(tool, input, { timeoutMs: 1000 });
      assert.ok(status === "success" || ENDED_EARLY.has(code), `${tool}: ${code}`);
    }
    await session.shell("rm -f sparse");
  });

  test("with twenty thousand files and very deep directories lists are cut, calls continue, and all can be deleted", async () => {
    const program = `
import os
os.mkdir("many")
for number in range(20000): os.close(os.open("many/%d" % number, os.O_CREAT | os.O_WRONLY))
os.makedirs("deep"); os.chdir("deep")
for _ in range(3000): os.mkdir("d"); os.chdir("d")
`;
    const { exitCode, stderr } = await session.shell(`python3 -c '${program}'`);
    assert.equal(exitCode, 0, stderr);
    for (const path of ["many", "deep", "."]) {
      const { status, code, message } = await session.call("file_list", { path, recursive: true });
      assert.ok(status === "success" || code === "RESOURCE_EXCEEDED", `${path}: ${code} ${message}`);
    }
    assert.equal((await session.shell("echo still here")).stdout, "still here\n");
    for (const path of ["many", "deep"]) {
      const { status, code, message } = await session.call("file_delete", { path, recursive: true });
      assert.ok(status === "success" || code !== "INTERNAL", `${path}: ${code} ${message}`);
    }
    assert.equal((await session.shell("rm -rf many deep; ls -d many deep")).stdout, "");
  });
});

describe("invalid workspaces", { timeout: 60_000 }, () => {
  test("the root, the user's home, the kernel's home, its parents and its contents are rejected, by any name", async () => {
    await symlink("/", join(at.root, "to-root"));
    await symlink(at.home, join(at.root, "to-home"));
    const refused = [
      "/",
      join(at.root, "to-root"),
      at.home,
      join(at.root, "to-home"),
      join(at.home, "store"),
      at.root,
      join(at.outside, "file"),
      join(at.root, "absent"),
    ];
    for (const path of [...refused, "/proc/self/root", `${at.workspace}/../home`]) {
      await assert.rejects(at.open(path), { code: "WORKSPACE_REFUSED" }, path);
    }
  });

  test("a linked workspace is its target, and stays so when the link changes", async () => {
    const real = await at.makeWorkspace("real");
    await symlink(real, join(at.root, "named"));
    const linked = await at.open(join(at.root, "named"));
    await rename(join(at.root, "named"), join(at.root, "named-before"));
    await symlink(at.outside, join(at.root, "named"));
    assert.equal((await linked.shell("echo x > made; ls")).stdout, "made\n");
    assert.equal((await linked.call("file_list", { path: "." })).status, "success");
    assert.equal(await readFile(join(real, "made"), "utf8"), "x\n");
    assert.deepEqual(await treeFacts(at.outside), untouched);
  });

  test("a program of an outer workspace cannot replace a nested workspace or its parent", async () => {
    for (const [outerName, inside, swap] of [
      ["outer", "inner", `mv inner moved; ln -s ${at.outside} inner`],
      ["outer-too", "middle/directory", `mv middle moved; ln -s ${at.outside} middle`],
    ] as const) {
      const outer = await at.makeWorkspace(outerName);
      const inner = await at.makeWorkspace(`${outerName}/${inside}`);
      await at.own(outer);
      const [insider, attacker] = [await at.open(inner), await at.open(outer)];
      assert.equal((await insider.shell("touch mine; ls")).stdout, "mine\n");
      await attacker.shell(swap);
      assert.equal((await attacker.shell(`readlink ${inside.split("/")[0]}`)).stdout, `${at.outside}\n`);
      for (const [tool, input] of [
        ["shell_exec", { command: "ls; cat file; echo attack > made; rm -rf directory" }],
        ["file_read", { path: "file" }],
        ["file_write", { path: "made", content: "attack" }],
        ["file_delete", { path: "directory", recursive: true }],
      ] as const) {
        const answer = await insider.call(tool, input);
        assert.ok(!JSON.stringify(answer).includes(at.secret), tool);
      }
      assert.deepEqual(await treeFacts(at.outside), untouched);
    }
  });
});
