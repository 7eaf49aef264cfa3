import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { appendFile, link, lstat, mkdir, readdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import { promisify } from "node:util";
import { type AttackedKernel, startAttackedKernel } from "./support/attacked-kernel.ts";
import { hostGit, makeRepository } from "./support/repository.ts";
import { treeFacts } from "./support/tree-facts.ts";
import { sampled } from "../sampled.ts";

const ABSENT = [
  ".git/config",
  ".GIT/config",
  ".Git/hooks/pre-commit",
  ".claude/settings.json",
  ".mcp.json",
  ".MCP.json",
  ".vscode/tasks.json",
  ".husky/_/pre-commit",
  ".bashrc",
  ".profile",
  ".npmrc",
  ".envrc",
  ".env",
  ".github/workflows/x.yml",
  ".ssh/authorized_keys",
];

let at: AttackedKernel;
before(async () => {
  at = await startAttackedKernel();
});
after(() => at.remove());

async function exists(path: string): Promise<boolean> {
  return await lstat(path).then(
    () => true,
    () => false,
  );
}

describe("protected files that do not exist yet", { timeout: 120_000 }, () => {
  for (const path of sampled(ABSENT, 8)) {
    test(`\`${path}\` can be created by no tool anywhere, and by no program at the root`, async () => {
      const workspace = await at.makeWorkspace(`absent-${path.replaceAll("/", "-")}`);
      const session = await at.open(workspace);
      for (const place of [path, `sub/${path}`]) {
        for (const [tool, input] of [
          ["file_write", { path: place, content: "attack" }],
          ["file_write", { path: place, content: "attack", create_only: true }],
          ["file_move", { source: "ordinary", destination: place }],
        ] as const) {
          await session.call("file_write", { path: "ordinary", content: "x" });
          assert.equal((await session.call(tool, input)).status, "denied", `${tool} ${place}`);
        }
      }
      const script = `mkdir -p "$(dirname ${path})"; echo attack > ${path}; ln -sf ordinary link`;
      const { status, code } = await session.call("shell_exec", { command: script });
      assert.deepEqual([status, code], ["error", "UNDECLARED_EFFECT"]);
      assert.ok(!(await exists(join(workspace, path))), "it is still there");
      assert.ok(await exists(join(workspace, "link")), "everything else stands");
    });
  }

  test("cannot be created by a program in directories between the root and its own", async () => {
    const workspace = await at.makeWorkspace("below");
    const session = await at.open(workspace);
    await session.call("shell_exec", { command: "mkdir -p sub a/b" });
    for (const [cwd, path] of [
      ["sub", ".git/config"],
      ["sub", ".vscode/tasks.json"],
      ["a/b", ".git/hooks/pre-commit"],
      ["a/b", ".claude/settings.json"],
      ["a/b", "../.mcp.json"],
    ] as const) {
      const command = `mkdir -p "$(dirname ${path})"; echo attack > ${path}`;
      assert.equal((await session.call("shell_exec", { command, cwd })).code, "UNDECLARED_EFFECT", `${cwd} ${path}`);
      assert.ok(!(await exists(join(workspace, cwd, path))), `${cwd} ${path}`);
    }
  });
});

const PLANT =
  "mkdir -p .claude .vscode .git; for f in .claude/settings.json .vscode/tasks.json .mcp.json .git/config; do echo attack > $f; done";

/** What a program does besides planting files, so that they cannot be put back. */
const HINDRANCES: ReadonlyArray<readonly [name: string, script: string]> = [
  ["a file in the place where they are kept", ": > .narthex-taken"],
  ["a link to nowhere in that place", "ln -s /nowhere .narthex-taken"],
  ["a link to the workspace in that place", "ln -s . .narthex-taken"],
  ["a closed directory in that place", "mkdir .narthex-taken; chmod 000 .narthex-taken"],
  ["a directory in that place that cannot be written", "mkdir .narthex-taken; chmod 1555 .narthex-taken"],
  ["a protected file with a second name, larger than what is kept", "head -c 2000000 /dev/zero > big; ln big .env"],
  [
    "more protected names than can be mounted",
    'python3 -c \'import itertools as i; [open("".join(n), "w") for n in i.islice(i.product(*[(c, c.upper()) if c.isalpha() else c for c in ".gitlab-ci.yml"]), 1200)]\'',
  ],
  ["a closed directory on the way to a protected file", "mkdir .cargo; echo x > .cargo/config.toml; chmod 000 .cargo"],
  ["a directory that can be listed and not entered", "mkdir .cargo; echo x > .cargo/config.toml; chmod 444 .cargo"],
  ["a directory that can be entered and not listed", "mkdir .cargo; echo x > .cargo/config.toml; chmod 111 .cargo"],
  ["a directory that cannot be written", "chmod 000 .claude/settings.json; chmod 555 .claude ."],
  ["the workspace closed", "chmod 000 ."],
  ["pipes, sockets and loops of links", "mkfifo .envrc; ln -s .npmrc .npmrc; ln -s .. .cursor; mkfifo .narthex-taken"],
  ["very many files", "mkdir .idea; cd .idea; seq 5000 | xargs touch"],
];

describe("a program that obstructs the quarantine of its planted files", { timeout: 120_000 }, () => {
  for (const [name, script] of HINDRANCES) {
    test(`${name}: no planted file stays in place, all are kept aside, and programs continue`, async () => {
      const workspace = await at.makeWorkspace(`hinders-${HINDRANCES.findIndex(([one]) => one === name)}`);
      await writeFile(join(workspace, ".env.local"), "KEY=1\n");
      await at.own(workspace);
      const session = await at.open(workspace);
      const { code, message } = await session.call("shell_exec", { command: `${PLANT}; ${script}; true` });
      assert.equal(code, "UNDECLARED_EFFECT", message);
      assert.match(message, /`kept in \.narthex-taken[^`]+`/);
      const left = (await readdir(workspace)).filter((name) => !name.startsWith(".narthex-taken"));
      assert.deepEqual(
        left.filter((name) => !["big", ".cargo"].includes(name)),
        [".env.local"],
      );
      await promisify(execFile)("chmod", ["-R", "u+rwX", workspace]);
      const { stdout: kept } = await promisify(execFile)("grep", ["-rl", "^attack$", workspace]);
      assert.equal(kept.trim().split("\n").length, 4, "something was deleted");
      assert.equal(await readFile(join(workspace, ".env.local"), "utf8"), "KEY=1\n");
      // The next program finds nothing that it would take for the user's own.
      const { stdout } = await session.shell("ls -A; echo x > .env.local; true");
      assert.ok(!/^\.(?:claude|vscode|mcp|git)/m.test(stdout), stdout);
    });
  }
});

test("a program whose sandbox is killed leaves no planted file either", async () => {
  const workspace = await at.makeWorkspace("sandbox-killed");
  const session = await at.open(workspace);
  const planted = Promise.withResolvers<void>();
  const command = `${PLANT}; echo planted; sleep infinity # sandbox-killed`;
  const call = session.call("shell_exec", { command }, { onOutput: () => planted.resolve() });
  await planted.promise;
  for (const name of await readdir("/proc")) {
    const line = await readFile(`/proc/${name}/cmdline`, "utf8").catch(() => "");
    const parent = /^PPid:\t(\d+)$/m.exec(await readFile(`/proc/${name}/status`, "utf8").catch(() => ""))?.[1];
    if (line.includes("# sandbox-killed") && parent === String(at.pid)) process.kill(Number(name), "SIGKILL");
  }
  assert.equal((await call).code, "SANDBOX_ERROR");
  assert.deepEqual(await readdir(workspace), [".narthex-taken"]);
});

test("the quarantine directory is protected itself: no repository can be created around it", async () => {
  const workspace = await at.makeWorkspace("place");
  const session = await at.open(workspace);
  const first =
    "mkdir -p .narthex-taken/.git .Narthex-Taken-x; echo attack > .narthex-taken/.git/config; touch .mcp.json";
  assert.equal((await session.call("shell_exec", { command: first })).code, "UNDECLARED_EFFECT");
  const [place = "", ...more] = await readdir(workspace);
  assert.deepEqual([place.startsWith(".narthex-taken-"), more], [true, []]);
  const { stderr } = await session.shell(`mkdir ${place}/.git; mv ${place} other; rm -rf ${place}`);
  assert.match(stderr, /mkdir: .*Read-only file system/);
  assert.equal((await session.call("file_write", { path: `${place}/HEAD`, content: "x" })).status, "denied");
  assert.equal((await session.call("file_delete", { path: place, recursive: true })).status, "denied");
  assert.deepEqual((await readdir(join(workspace, place))).sort(), [
    "1_mcp_json",
    "2_narthex-taken",
    "3_Narthex-Taken-x",
  ]);
});

/** What a program does to a repository so that git on the host does the attacker's will. */
const REPOSITORY_ATTACKS: ReadonlyArray<readonly [name: string, script: string]> = [
  ["its configuration is appended to", "printf '[core]\\n fsmonitor = ./evil\\n' >> .git/config"],
  ["git writes its configuration", "git config core.fsmonitor ./evil"],
  ["its configuration is replaced", "cp .git/config c; echo '[core] fsmonitor=./evil' >> c; mv -f c .git/config"],
  ["a hook is made", "printf '#!/bin/sh\\n./evil' > .git/hooks/pre-commit; chmod +x .git/hooks/pre-commit"],
  [
    "the repository is renamed and made anew",
    "mv .git old; cp -r old .git; printf '[core]\\n fsmonitor = ./evil\\n' >> .git/config",
  ],
  ["the repository is deleted", "rm -rf .git; git init -q; git config core.fsmonitor ./evil"],
  [
    "the repository becomes a link",
    "cp -r .git evil.git; printf '[core]\\n fsmonitor = ./evil\\n' >> evil.git/config; rm -rf .git; ln -s evil.git .git",
  ],
  ["attributes are set in it", "mkdir -p .git/info; echo '* filter=evil' > .git/info/attributes"],
  [
    "its configuration is linked and written by its other name",
    "ln .git/config other && printf '[core]\\n fsmonitor = ./evil\\n' >> other",
  ],
  [
    "another directory becomes its common one",
    "mkdir evil; cp -r .git/. evil/; rm -f evil/commondir; printf '[core]\\n fsmonitor = ./evil\\n' >> evil/config; echo ../evil > .git/commondir",
  ],
  ["a configuration of the work tree is made", "printf '[core]\\n fsmonitor = ./evil\\n' > .git/config.worktree"],
];

describe("a repository under attack by a program", { timeout: 120_000 }, () => {
  for (const [name, script] of sampled(REPOSITORY_ATTACKS, 8)) {
    test(`${name}: git on the host uses nothing of the attacker's`, async () => {
      const workspace = await at.makeWorkspace(`repository-${name.replaceAll(" ", "-")}`);
      await makeRepository(workspace);
      await hostGit(workspace, "config", "extensions.worktreeConfig", "true");
      await at.own(workspace);
      const before = await readFile(join(workspace, ".git/config"), "utf8");
      const session = await at.open(workspace);
      await session.call("shell_exec", { command: script });
      assert.equal(await hostGit(workspace, "config", "core.fsmonitor"), "");
      assert.equal(await readFile(join(workspace, ".git/config"), "utf8"), before);
      assert.ok(!(await exists(join(workspace, ".git/hooks/pre-commit"))));
      assert.ok(!(await exists(join(workspace, ".git/info/attributes"))));
    });
  }

  test("a hooks directory named in the configuration is guarded like the default one", async () => {
    const workspace = await at.makeWorkspace("hooks-path");
    await makeRepository(workspace);
    await hostGit(workspace, "config", "core.hooksPath", "tools/hooks");
    await mkdir(join(workspace, "tools/hooks"), { recursive: true });
    await at.own(workspace);
    await (await at.open(workspace)).call("shell_exec", {
      command: "echo ./evil > tools/hooks/pre-commit; chmod +x tools/hooks/pre-commit",
    });
    assert.ok(!(await exists(join(workspace, "tools/hooks/pre-commit"))));
  });

  test("a submodule's configuration is guarded, also below a name with a slash", async () => {
    const workspace = await at.makeWorkspace("submodules");
    await makeRepository(workspace);
    const configs = [".git/modules/plain/config", ".git/modules/with/slash/config"].map((path) =>
      join(workspace, path),
    );
    for (const config of configs) {
      await mkdir(join(config, "../hooks"), { recursive: true });
      await writeFile(config, "[core]\n");
    }
    await at.own(workspace);
    const session = await at.open(workspace);
    await session.call("shell_exec", {
      command:
        "for c in .git/modules/plain .git/modules/with/slash; do echo evil >> $c/config; echo evil > $c/hooks/x; done",
    });
    for (const config of configs) {
      assert.equal(await readFile(config, "utf8"), "[core]\n", config);
      assert.ok(!(await exists(join(config, "../hooks/x"))), config);
    }
  });

  test("a `.git` file that points to a directory of the workspace has that directory's configuration guarded", async () => {
    const workspace = await at.makeWorkspace("git-file");
    await makeRepository(join(workspace, "source"));
    await hostGit(workspace, "init", "-q", "--separate-git-dir", join(workspace, "meta"), join(workspace, "tree"));
    await writeFile(join(workspace, ".git"), `gitdir: ${join(workspace, "meta")}\n`);
    await at.own(workspace);
    const session = await at.open(workspace);
    await session.call("shell_exec", {
      command: "printf '[core]\\n fsmonitor = ./evil\\n' >> meta/config; echo 'gitdir: evil' > .git",
    });
    assert.equal(await readFile(join(workspace, ".git"), "utf8"), `gitdir: ${join(workspace, "meta")}\n`);
    assert.equal(await hostGit(workspace, "config", "core.fsmonitor"), "");
  });

  test("a protected file is not changed through a hard link in the workspace", async () => {
    const workspace = await at.makeWorkspace("second-name");
    await writeFile(join(workspace, ".env"), "KEY=1\n");
    await link(join(workspace, ".env"), join(workspace, "copy"));
    await at.own(workspace);
    const { code } = await (await at.open(workspace)).call("shell_exec", { command: "echo attack > copy" });
    assert.equal(await readFile(join(workspace, ".env"), "utf8"), "KEY=1\n", code);
  });

  test("a protected file is not changed through a hard link that is deleted or closed by then", async () => {
    for (const end of ["rm copy", "chmod 000 copy"]) {
      const workspace = await at.makeWorkspace(`second-name-${end.slice(0, 2)}`);
      await writeFile(join(workspace, ".env"), "KEY=1\n");
      await link(join(workspace, ".env"), join(workspace, "copy"));
      await at.own(workspace);
      const session = await at.open(workspace);
      const { code } = await session.call("shell_exec", { command: `echo attack > copy; ${end}` });
      assert.equal(code, "UNDECLARED_EFFECT");
      assert.equal(await readFile(join(workspace, ".env"), "utf8"), "KEY=1\n", end);
    }
  });

  test("a link that one program plants is not restored by a concurrent one", async () => {
    const workspace = await at.makeWorkspace("beside");
    const session = await at.open(workspace);
    const planted = Promise.withResolvers<void>();
    const first = session.call(
      "shell_exec",
      { command: "ln -s evil .vscode; echo planted; until [ -e go ]; do sleep 0.02; done" },
      { onOutput: () => planted.resolve() },
    );
    await planted.promise;
    const second = session.call("shell_exec", { command: "until [ -e done ]; do sleep 0.02; done" });
    await writeFile(join(workspace, "go"), "");
    assert.equal((await first).code, "UNDECLARED_EFFECT");
    await writeFile(join(workspace, "done"), "");
    assert.equal((await second).status, "success");
    assert.ok(!(await exists(join(workspace, ".vscode"))), "it is there again");
  });

  test("a protected file that a person creates while a program runs is not lost", async () => {
    const workspace = await at.makeWorkspace("person");
    const session = await at.open(workspace);
    const running = Promise.withResolvers<void>();
    const call = session.call(
      "shell_exec",
      { command: "echo running; until [ -e go ]; do sleep 0.05; done" },
      { onOutput: () => running.resolve() },
    );
    await running.promise;
    await appendFile(join(workspace, ".env"), "KEY=1\n");
    await at.own(workspace);
    await writeFile(join(workspace, "go"), "");
    await call;
    const kept = Object.values(await treeFacts(workspace)).some((facts) => facts.includes("KEY=1"));
    assert.ok(kept, "the person's file is nowhere any more");
  });
});
