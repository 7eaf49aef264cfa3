import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import {
  chmod,
  chown,
  lchown,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  readlink,
  rm,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, beforeEach, describe, it } from "node:test";
import { createKernel, type SocketKernel, type SocketSession } from "../doors/socket-kernel.ts";
import { endOf, MANY_VIOLATIONS } from "./vault-kernel.ts";

const OWNER = process.getuid?.() === 0 ? 1000 : undefined;
const SHELL = '@id("t-shell") @approve("none") permit(principal, action == Action::"shell_exec", resource);\n';
const PROTECTED =
  '@id("t-protected") @approve("none") permit(principal, action == Action::"write_protected", resource);\n';

const root = await mkdtemp(join(tmpdir(), "narthex-protected-"));
await chmod(root, 0o755);
const kernels: SocketKernel[] = [];
after(async () => {
  await Promise.all(kernels.map((kernel) => kernel.close()));
  await rm(root, { recursive: true, force: true });
});

async function openHome(name: string, text = SHELL, configuration = ""): Promise<SocketKernel> {
  const data = join(root, name);
  await mkdir(data);
  await writeFile(join(data, "narthex.yaml"), MANY_VIOLATIONS + configuration);
  const kernel = await createKernel({ data, policies: [{ name: "test.cedar", text }] });
  kernels.push(kernel);
  return kernel;
}

describe("protected paths", { timeout: 180_000 }, () => {
  let workspace: string;
  let session: SocketSession;
  let kernel: SocketKernel | undefined;
  let count = 0;
  beforeEach(async () => {
    workspace = join(root, `workspace-${++count}`);
    await mkdir(workspace);
    await own();
    kernel ??= await openHome("home");
    session = await kernel.session({ workspace });
  });

  const at = (path: string): string => join(workspace, path);
  async function own(): Promise<void> {
    if (OWNER === undefined) return;
    await chown(workspace, OWNER, OWNER);
    for (const entry of await readdir(workspace, { recursive: true, withFileTypes: true })) {
      await lchown(join(entry.parentPath, entry.name), OWNER, OWNER);
    }
  }
  async function put(files: Readonly<Record<string, string>>): Promise<void> {
    for (const [path, content] of Object.entries(files)) {
      await mkdir(dirname(at(path)), { recursive: true });
      await writeFile(at(path), content);
    }
    await own();
  }
  const shell = async (command: string, more = {}, by = session) =>
    endOf(await by.call("shell_exec", { command, ...more }));
  const absent = async (path: string): Promise<boolean> =>
    await lstat(at(path)).then(
      () => false,
      () => true,
    );

  it("that exist cannot be written, removed, renamed or mounted over by a program", async () => {
    await put({ ".env": "KEY=1", ".github/workflows/ci.yml": "on: push", ".vscode/tasks.json": "{}", "src/a": "a" });
    const end = await shell(
      "echo x > .env; rm -f .env; mv .env y; ln .env twin && echo x > twin; chmod 777 .env; " +
        "mv .github elsewhere; rm -rf .github .vscode; echo x > .github/workflows/new.yml; mv src .vscode/src; " +
        "echo b > src/a; mkdir -p .github/other && echo o > .github/other/file; true",
    );
    assert.equal(end.code, "success", end.text);
    assert.equal(await readFile(at(".env"), "utf8"), "KEY=1");
    assert.equal(await readFile(at(".github/workflows/ci.yml"), "utf8"), "on: push");
    assert.equal(await readFile(at(".vscode/tasks.json"), "utf8"), "{}");
    assert.deepEqual((await readdir(workspace)).sort(), [".env", ".github", ".vscode", "src"]);
    assert.deepEqual((await readdir(at(".github/workflows"))).sort(), ["ci.yml"]);
    assert.equal(await readFile(at("src/a"), "utf8"), "b\n");
    assert.equal(await readFile(at(".github/other/file"), "utf8"), "o\n");
  });

  it("are not deleted with their directory", async () => {
    await mkdir(at("sub/.git/hooks"), { recursive: true });
    await writeFile(at("sub/.env"), "KEY=1");
    await writeFile(at("sub/plain.txt"), "x");
    await own();
    const kept = await session.call("file_delete", { path: "sub", recursive: true });
    assert.equal(kept.status, "denied");
    assert.equal(await readFile(at("sub/.env"), "utf8"), "KEY=1");
    assert.equal(await readFile(at("sub/plain.txt"), "utf8"), "x");
    await rm(at("sub/.env"));
    await rm(at("sub/.git"), { recursive: true });
    assert.equal((await session.call("file_delete", { path: "sub", recursive: true })).status, "success");
  });

  it("created by a program are removed again, in any case, and everything else stays", async () => {
    for (const [command, path] of [
      ["echo x > .mcp.json", ".mcp.json"],
      ["echo x > .MCP.json", ".MCP.json"],
      ["mkdir -p .Claude && echo x > .Claude/settings.json", ".Claude"],
      ["mkdir -p .GitHub/Workflows && echo x > .GitHub/Workflows/a.yml", ".GitHub/Workflows"],
      ["ln -s /etc/passwd .npmrc", ".npmrc"],
      ["mkfifo .envrc", ".envrc"],
      ["echo x > a && ln a .netrc", ".netrc"],
      ["mkdir .cursor && mkfifo .cursor/pipe && echo x > .cursor/rules", ".cursor"],
      ["mkdir -p .zed/closed && echo x > .zed/closed/a && echo x > .zed/tasks.json && chmod 0 .zed/closed", ".zed"],
      ["mkdir .husky && echo x > \".husky/$(printf '\\377')\" && echo x > .husky/pre-commit", ".husky"],
      ["echo x > .bashrc && chmod 0 .bashrc", ".bashrc"],
      ["echo x > .profile", ".profile"],
      ["mkdir .vscode && echo x > .vscode/tasks.json", ".vscode"],
      ["mkdir .idea && cd .idea && for i in $(seq 300); do mkdir d && cd d; done", ".idea"],
    ] as const) {
      const end = await shell(`${command}; echo stays > stays`);
      assert.equal(end.code, "UNDECLARED_EFFECT", `${command}: ${end.text}`);
      assert.ok(end.text.includes(`\`${path}\``), end.text);
      assert.equal(await absent(path), true, path);
      assert.equal(await readFile(at("stays"), "utf8"), "stays\n");
    }
  });

  it("that are links are restored exactly", async () => {
    await put({ "réal/settings": "theirs" });
    await symlink("réal", at(".vscode"));
    await own();
    const end = await shell("rm .vscode && mkdir .vscode && echo mine > .vscode/tasks.json");
    assert.equal(end.code, "UNDECLARED_EFFECT", end.text);
    assert.equal(await readlink(at(".vscode")), "réal");
    const swapped = await shell("ln -sfn /tmp .vscode");
    assert.equal(swapped.code, "UNDECLARED_EFFECT");
    assert.equal(await readlink(at(".vscode")), "réal");
    assert.equal(await readFile(at("réal/settings"), "utf8"), "theirs");
  });

  it("of repositories, also nested ones, keep their hooks and configuration while git works", async () => {
    for (const path of [".", "packages"]) {
      await mkdir(at(path), { recursive: true });
      execFileSync("git", ["init", "--quiet", at(path)]);
    }
    await own();
    const attack = (git: string): string =>
      `echo x > ${git}/hooks/pre-commit; echo x >> ${git}/config; mv ${git} away; rm -rf ${git}/hooks; mkdir -p ${git}/info; echo '* filter=x' > ${git}/info/attributes; true`;
    for (const git of [".git", "packages/.git"]) {
      const before = await readFile(at(`${git}/config`), "utf8");
      const end = await shell(attack(git));
      assert.match(end.code, /^(?:success|UNDECLARED_EFFECT)$/, end.text);
      assert.equal(await readFile(at(`${git}/config`), "utf8"), before, git);
      assert.equal(await absent(`${git}/hooks/pre-commit`), true, git);
      assert.equal(await absent(`${git}/info/attributes`), true, git);
    }
    const commit =
      "git -c user.name=a -c user.email=a@b commit --quiet --allow-empty -m first && git log --oneline | wc -l";
    const end = await shell(commit);
    assert.match(JSON.stringify(end.raw), /"exit_code":0.*1\\n/, end.text);
  });

  it("of a repository that a program creates on the way are removed with it", async () => {
    const end = await shell("git init --quiet . && echo x > .git/hooks/post-checkout; echo ok > ok");
    assert.equal(end.code, "UNDECLARED_EFFECT", end.text);
    assert.equal(await absent(".git"), true);
    assert.equal(await readFile(at("ok"), "utf8"), "ok\n");
  });

  it("in a program's starting directory are protected like those of the root", async () => {
    await put({ "sub/deep/.env": "KEY=1" });
    const end = await shell("echo x > .env; echo x > ../.envrc; echo x > .npmrc", { cwd: "sub/deep" });
    assert.equal(end.code, "UNDECLARED_EFFECT", end.text);
    assert.equal(await readFile(at("sub/deep/.env"), "utf8"), "KEY=1");
    assert.deepEqual([await absent("sub/.envrc"), await absent("sub/deep/.npmrc")], [true, true]);
  });

  it("are denied to file tools by name, through links and in any case", async () => {
    await put({ ".env": "KEY=1", "src/a": "a" });
    await symlink("../.env", at("src/link"));
    await own();
    for (const path of [".env", ".ENV", "deep/.ssh/id", "src/link", ".git/hooks/pre-commit", "x/.GIT/config"]) {
      const end = endOf(await session.call("file_write", { path, content: "x" }));
      assert.equal(end.code, "NO_MATCHING_RULE", path);
    }
    assert.equal(await readFile(at(".env"), "utf8"), "KEY=1");
    assert.equal(await absent("deep"), true);
  });

  it("can be changed if a rule permits it", async () => {
    const permissive = await openHome("permissive", SHELL + PROTECTED);
    const free = await permissive.session({ workspace });
    await put({ ".env": "KEY=1" });
    assert.equal((await shell("echo KEY=2 > .env; echo x > .mcp.json", {}, free)).code, "success");
    assert.equal(await readFile(at(".env"), "utf8"), "KEY=2\n");
    assert.equal(await readFile(at(".mcp.json"), "utf8"), "x\n");
    assert.equal(endOf(await free.call("file_write", { path: ".envrc", content: "x" })).code, "success");
  });

  it("can be configured, which replaces the defaults", async () => {
    const own2 = await openHome("configured", SHELL, "protected_paths: [secret.txt, 'conf/*.lock']\n");
    const other = await own2.session({ workspace });
    await put({ "secret.txt": "1", "conf/a.lock": "1", "conf/b.txt": "1" });
    const end = await shell(
      "echo 2 > secret.txt; echo 2 > conf/a.lock; echo 2 > conf/b.txt; echo 2 > .env; true",
      {},
      other,
    );
    assert.equal(end.code, "success", end.text);
    assert.deepEqual(
      await Promise.all(["secret.txt", "conf/a.lock", "conf/b.txt", ".env"].map((path) => readFile(at(path), "utf8"))),
      ["1", "1", "2\n", "2\n"],
    );
    const made = await shell("echo 2 > conf/new.LOCK", {}, other);
    assert.equal(made.code, "UNDECLARED_EFFECT");
    assert.equal(await absent("conf/new.LOCK"), true);
    assert.equal(endOf(await other.call("file_write", { path: "secret.txt", content: "2" })).code, "NO_MATCHING_RULE");
    assert.equal(endOf(await other.call("file_write", { path: ".envrc", content: "2" })).code, "success");
  });

  it("can be files that the project runs itself, if configured", async () => {
    const paths = ["pyvenv.cfg", "venv/bin", "node_modules/.bin", "package.json", "Makefile", "conftest.py"];
    const strict = await openHome("strict", SHELL, `protected_paths: ${JSON.stringify(paths)}\n`);
    const other = await strict.session({ workspace });
    const files = paths.map((path) => (path.endsWith("bin") ? `${path}/x` : path));
    await put(Object.fromEntries(files.map((path) => [path, "1"])));
    const end = await shell(
      `${files.map((path) => `echo 2 > ${path}`).join("; ")}; rm -rf venv node_modules; true`,
      {},
      other,
    );
    assert.equal(end.code, "success", end.text);
    for (const path of files) {
      assert.equal(await readFile(at(path), "utf8"), "1", path);
      assert.equal(endOf(await other.call("file_write", { path, content: "2" })).code, "NO_MATCHING_RULE", path);
    }
  });

  it("changed by a permitted call are not blamed on a program that ran at the same time", async () => {
    const permissive = await openHome("beside", `${SHELL}${PROTECTED}`.replace('"t-shell"', '"t-shell-2"'));
    const free = await permissive.session({ workspace });
    const running = shell("until [ -e go ]; do sleep 0.02; done; cat .envrc", {}, free);
    assert.equal(endOf(await free.call("file_write", { path: ".envrc", content: "new" })).code, "success");
    assert.equal(endOf(await free.call("file_write", { path: "go", content: "" })).code, "success");
    assert.match(JSON.stringify((await running).raw), /"exit_code":0/);
    assert.equal(await readFile(at(".envrc"), "utf8"), "new");
  });

  it("are enforced beside a persistent home, and a scratch directory that ends with the session", async () => {
    const first = await shell("echo kept > ~/note; echo mine > /scratch/note; echo $HOME $NARTHEX_SCRATCH");
    assert.match(JSON.stringify(first.raw), /\/home\/agent \/scratch/);
    const other = await kernel?.session({ workspace });
    assert.ok(other !== undefined);
    const seen = await shell("cat ~/note; ls -A /scratch; cat /scratch/note", {}, other);
    assert.match(JSON.stringify(seen.raw), /kept/);
    assert.doesNotMatch(JSON.stringify(seen.raw), /mine/);
    const mine = await shell("cat /scratch/note");
    assert.match(JSON.stringify(mine.raw), /mine/);
    await session.close();
    const places = [join(root, "home", "cache"), "/var/cache/narthex"];
    for (const place of places) {
      const names = await readdir(place, { recursive: true }).catch(() => []);
      assert.deepEqual(
        names.filter((name) => name.includes(session.id)),
        [],
        place,
      );
    }
  });
});
