import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { promisify } from "node:util";
import { addIgnored, planIgnored, removeIgnored } from "./git-exclude.ts";

const execute = promisify(execFile);

describe("keeping files out of commits", () => {
  let root: string;
  before(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), "narthex-ignored-")));
  });
  after(() => rm(root, { recursive: true, force: true }));

  const git = (directory: string, ...words: readonly string[]) =>
    execute("git", ["-c", "user.name=a", "-c", "user.email=a@b", "-C", directory, ...words]);
  const list = (repository: string): Promise<string> => readFile(join(repository, "info/exclude"), "utf8");

  async function makeRepository(name: string): Promise<string> {
    const directory = join(root, name);
    await git(root, "init", "--quiet", directory);
    return directory;
  }

  it("adds nothing outside of a repository", async () => {
    await mkdir(join(root, "plain"));
    assert.equal(await planIgnored(join(root, "plain"), [".mcp.json"]), undefined);
  });

  it("omits files that git tracks or ignores already, and removes its lines to the byte", async () => {
    const directory = await makeRepository("usual");
    await mkdir(join(directory, ".claude"));
    for (const name of ["opencode.json", ".claude/settings.json", ".gitignore"]) {
      await writeFile(join(directory, name), name === ".gitignore" ? ".codex\n" : "{}");
    }
    await git(directory, "add", "opencode.json");
    const names = ["opencode.json", ".claude/settings.json", ".codex/config.toml", "we[i]rd* .json "];
    const planned = await planIgnored(directory, names);
    assert.deepEqual(planned?.lines, ["/.claude/settings.json", "/we\\[i\\]rd\\* .json\\ "]);
    for (const before of ["# kept", "# kept\n", "", "a\n\n"]) {
      await writeFile(join(directory, ".git/info/exclude"), before);
      await addIgnored(planned);
      const { stdout } = await git(directory, "status", "--porcelain", "--untracked-files=all");
      assert.equal(stdout, "A  opencode.json\n?? .gitignore\n");
      assert.equal(await planIgnored(directory, names), undefined);
      await removeIgnored(planned);
      assert.equal(await list(join(directory, ".git")), before);
    }
  });

  it("removes a list that it created, and keeps lines added since", async () => {
    const directory = await makeRepository("without-list");
    await rm(join(directory, ".git/info"), { recursive: true });
    const planned = await planIgnored(directory, [".mcp.json"]);
    assert.ok(planned);
    await addIgnored(planned);
    await writeFile(join(directory, ".git/info/exclude"), `mine\n${await list(join(directory, ".git"))}yours\n`);
    await removeIgnored(planned);
    assert.equal(await list(join(directory, ".git")), "mine\nyours\n");
    await writeFile(join(directory, ".git/info/exclude"), "/.mcp.json\n");
    await removeIgnored(planned);
    await assert.rejects(list(join(directory, ".git")), { code: "ENOENT" });
    await removeIgnored({ ...planned, repository: join(root, "gone") });
  });

  it("finds the list of a work tree and of a directory below the root", async () => {
    const directory = await makeRepository("main");
    await git(directory, "commit", "--quiet", "--allow-empty", "-m", "first");
    await git(directory, "worktree", "add", "--quiet", join(root, "tree"));
    await mkdir(join(root, "tree/packages/a"), { recursive: true });
    const planned = await planIgnored(join(root, "tree/packages/a"), [".mcp.json"]);
    assert.deepEqual(planned, {
      repository: join(directory, ".git"),
      lines: ["/packages/a/.mcp.json"],
      created: false,
    });
    await addIgnored(planned);
    await writeFile(join(root, "tree/packages/a/.mcp.json"), "{}");
    assert.equal((await git(join(root, "tree"), "status", "--porcelain")).stdout, "");
  });
});
