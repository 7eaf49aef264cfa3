import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chmod, lstat, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, test } from "node:test";
import type { JsonValue } from "narthex";
import { createKernel, type SocketKernel, type SocketSession } from "../doors/socket-kernel.ts";
import { removeCaches } from "./support/program-caches.ts";
import { hostGit, makeRepository } from "./support/repository.ts";

/** The default policy, an agent that does as an attacker says, and a person who says what `answer` says. */
let directory: string;
let workspace: string;
let kernel: SocketKernel;
let session: SocketSession;
let answer = false;
let asked = 0;

before(async () => {
  directory = await mkdtemp(join(tmpdir(), "narthex-default-policy-"));
  await chmod(directory, 0o755);
  workspace = join(directory, "workspace");
  await mkdir(join(workspace, "0"), { recursive: true });
  await makeRepository(workspace);
  for (const path of ["planted", "0/ls"]) {
    await writeFile(join(workspace, path), "#!/bin/sh\nexec /usr/bin/touch effect\n", { mode: 0o755 });
  }
  await writeFile(join(workspace, "in"), "needle\n");
  await hostGit(workspace, "add", "in");
  if (process.getuid?.() === 0) execFileSync("chown", ["-R", "1000:1000", workspace]);
  const ask = async () => {
    asked++;
    return { approved: answer, approver: "person" };
  };
  kernel = await createKernel({ data: join(directory, "home"), approver: { door: "test", ask } });
  session = await kernel.session({ workspace });
});
after(async () => {
  await kernel.close({ graceMs: 0 });
  await removeCaches(join(directory, "home"));
  await rm(directory, { recursive: true, force: true });
});

async function call(tool: string, input: JsonValue): Promise<{ readonly status: string; readonly asked: boolean }> {
  const before = asked;
  const { status } = await session.call(tool, input);
  return { status, asked: asked > before };
}

async function exists(path: string): Promise<boolean> {
  return await lstat(join(workspace, path)).then(
    () => true,
    () => false,
  );
}

/** Programs that only look, made to write or to run what the agent planted. All of them leave the file `effect`. */
const READERS: readonly string[] = [
  "uniq in effect",
  "sort -uo effect in",
  "printf %n PATH; ls",
  "git grep -nO./planted needle",
  "git grep --op=./planted needle",
  "git diff --output=effect",
  "find in -fprint effect",
  "sed -n 'w effect' in",
];

describe("a read-only program with options that do more", { timeout: 120_000 }, () => {
  for (const command of READERS) {
    test(`\`${command}\` runs only with a person's approval`, async () => {
      answer = false;
      assert.deepEqual(await call("shell_exec", { command }), { status: "denied", asked: true });
      assert.ok(!(await exists("effect")));
      // So the question was worth asking.
      answer = true;
      assert.deepEqual(await call("shell_exec", { command }), { status: "success", asked: true });
      assert.ok(await exists("effect"), "the command has no such effect");
      await rm(join(workspace, "effect"));
    });
  }
});

describe("a hostile test that the agent wrote", { timeout: 120_000 }, () => {
  test("runs without approval, and changes no protected path", async () => {
    answer = false;
    const before = await readFile(join(workspace, ".git/config"), "utf8");
    const content = `import { test } from "node:test";
import { mkdirSync, writeFileSync } from "node:fs";
const tries = [".git/config", ".git/hooks/pre-commit", ".npmrc", ".env", ".github/workflows/ci.yml", ".vscode/tasks.json"];
test("attacks", () => {
  for (const path of tries) {
    try {
      mkdirSync(path.slice(0, Math.max(0, path.lastIndexOf("/"))) || ".", { recursive: true });
      writeFileSync(path, "attack");
    } catch {}
  }
  writeFileSync("effect", "ran");
});
`;
    assert.equal((await call("file_write", { path: "attack.test.mjs", content })).status, "success");
    const run = await call("shell_exec", { command: "node --test attack.test.mjs" });
    assert.deepEqual(run, { status: "error", asked: false });
    assert.ok(await exists("effect"), "the test did not run");
    assert.equal(await readFile(join(workspace, ".git/config"), "utf8"), before);
    for (const path of [".git/hooks/pre-commit", ".npmrc", ".env", ".github/workflows", ".vscode/tasks.json"]) {
      assert.ok(!(await exists(path)), path);
    }
  });
});
