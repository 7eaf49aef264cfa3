import assert from "node:assert/strict";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { DEFAULT_PROTECTED_PATHS } from "./protected-names.ts";
import { userTrustSources } from "./trust-sources.ts";
import { WorkspaceTrust } from "./workspace-trust.ts";

describe("what file tools are told of a workspace", () => {
  let root: string;
  let workspace: string;
  let nowMs = 0;
  beforeEach(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), "narthex-trust-")));
    workspace = join(root, "home/project");
    await mkdir(workspace, { recursive: true });
  });
  afterEach(() => rm(root, { recursive: true }));

  async function put(path: string, text: string): Promise<void> {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), text);
  }
  function trust(names = DEFAULT_PROTECTED_PATHS, realPaths: readonly string[] = []): WorkspaceTrust {
    const sources = userTrustSources(
      join(root, "home"),
      { GIT_CONFIG_SYSTEM: join(root, "system") },
      async () => realPaths,
    );
    return new WorkspaceTrust(names, sources, () => nowMs);
  }
  async function trusted(paths: readonly string[], by = trust()): Promise<string[]> {
    const look = await by.inspect(workspace, paths);
    return paths.filter((path) => look.isTrusted(path));
  }

  it("has what the user's own configuration of git names, and all that it includes", async () => {
    await put("home/.gitconfig", '[core]\n\thooksPath = .hooks\n[includeIf "gitdir:~/x/"]\n\tpath = work.inc\n');
    await put("home/work.inc", "[include]\n\tpath = ~/project/shared.inc\n");
    await put("system", "[include]\n\tpath = home/project/system.inc\n");
    await put("home/project/.git/config", "");
    await put("home/project/shared.inc", '[filter "a"]\n\tclean = tools/clean.sh\n');
    const paths = [".hooks/pre-commit", "shared.inc", "system.inc", "tools/clean.sh", "work.inc", "src/a"];
    assert.deepEqual(await trusted(paths), [".hooks/pre-commit", "shared.inc", "system.inc", "tools/clean.sh"]);
  });

  it("has a user's configuration that is kept in the workspace, behind links in the home directory", async () => {
    await put("home/project/git/own", "[include]\n\tpath = project/dot/more\n");
    await put("home/project/nvim/init.lua", "");
    await mkdir(join(root, "home/.config"));
    await symlink("project/git/own", join(root, "home/.gitconfig"));
    await symlink("../project/nvim", join(root, "home/.config/nvim"));
    await symlink("project/src", join(root, "home/src"));
    await mkdir(join(workspace, "src"));
    const paths = ["git/own", "dot/more", "nvim/init.lua", "src/a"];
    assert.deepEqual(await trusted(paths), ["git/own", "dot/more", "nvim/init.lua"]);
  });

  it("has what a repository in the root names, however many directories come before it", async () => {
    for (let each = 0; each < 600; each++) await mkdir(join(workspace, `a${each}`));
    await put("home/project/lib/.git/config", "[core]\n\thooksPath = .githooks\n");
    assert.deepEqual(await trusted(["lib/.githooks/pre-commit", "lib/a"]), ["lib/.githooks/pre-commit"]);
  });

  it("has real paths that lie in the workspace, and what holds them", async () => {
    const by = trust(DEFAULT_PROTECTED_PATHS, [join(workspace, "lib/own"), join(root, "elsewhere")]);
    assert.deepEqual(await trusted(["lib/own/a.js", "lib", "lib/other", "elsewhere"], by), ["lib/own/a.js", "lib"]);
  });

  it("is looked up again once configuration has changed, or a second has passed", async () => {
    const by = trust();
    await put("home/project/.git/config", "");
    assert.deepEqual(await trusted([".hooks/a", "cfg/a"], by), []);
    await put("home/project/.git/config", "[core]\n\thooksPath = .hooks\n");
    assert.deepEqual(await trusted([".hooks/a"], by), [".hooks/a"]);
    await symlink("cfg", join(workspace, ".claude"));
    nowMs += 1000;
    assert.deepEqual(await trusted(["cfg/a"], by), ["cfg/a"]);
  });

  it("has what configuration names, however many repositories and directories a program made", async () => {
    await put("home/.gitconfig", "[core]\n\thooksPath = .hooks\n");
    await put("home/project/.git/config", "");
    const made = Array.from({ length: 600 }, (_, at) => `home/project/made${at}`);
    await Promise.all(made.map((path) => mkdir(join(root, path))));
    await Promise.all(made.slice(0, 80).map((path) => put(`${path}/.git/config`, "")));
    const libraries = Array.from({ length: 20 }, (_, at) => `lib${at}`);
    for (const name of libraries) await put(`home/project/${name}/.git/config`, "[core]\n\thooksPath = own\n");
    const paths = [".hooks/pre-commit", ...libraries.map((name) => `${name}/own/pre-commit`)];
    assert.deepEqual(await trusted(paths), paths);
    await Promise.all(made.map((path) => put(`${path}/.git/config`, "")));
    await assert.rejects(trusted(paths), { code: "RESOURCE_EXCEEDED" });
  });

  it("is refused where configuration is too much to be read", async () => {
    const settings = "[a]\n\tb = c\n".repeat(20_000);
    await Promise.all(Array.from({ length: 20 }, (_, at) => put(`home/project/made${at}/.git/config`, settings)));
    await assert.rejects(trusted(["a"]), { code: "RESOURCE_EXCEEDED", message: /4 MB/ });
  });

  it("has nothing of git's where `.git` is not protected, and nothing at all without a workspace", async () => {
    await put("home/project/.git/config", "[core]\n\thooksPath = .hooks\n");
    assert.deepEqual(await trusted([".hooks/a"], trust([".env"])), []);
    workspace = join(root, "absent");
    assert.deepEqual(await trusted(["HEAD", "config"]), []);
  });

  it("counts what other calls are about to write, until they are done", async () => {
    const by = trust();
    await put("home/project/a/objects/x", "");
    const first = await by.claim(workspace, ["a/HEAD"]);
    assert.equal(first.isTrusted("a/HEAD"), false);
    const second = await by.claim(workspace, ["a/refs/x"]);
    assert.equal(second.isTrusted("a/refs/x"), true);
    first.release();
    first.release();
    second.release();
    assert.deepEqual(await trusted(["a/refs/x"], by), []);
  });
});
