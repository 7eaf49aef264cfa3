import assert from "node:assert/strict";
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { chmod, chown, mkdir, mkdtemp, readdir, rm, stat, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { scanProtected } from "./scan-protected.ts";

const SCAN = { bases: ["."], git: undefined } as const;
const RACER = fileURLToPath(new URL("../files/testing/swap-racer.py", import.meta.url));

describe("the scan for protected paths", () => {
  let root: string;
  let workspace: string;
  beforeEach(async () => {
    root = await mkdtemp(join(tmpdir(), "narthex-scan-"));
    workspace = join(root, "workspace");
    await mkdir(workspace);
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  async function put(...paths: readonly string[]): Promise<void> {
    for (const path of paths) {
      await mkdir(dirname(join(workspace, path)), { recursive: true });
      await writeFile(join(workspace, path), path);
    }
  }
  const scan = (paths: readonly string[], bases: readonly string[] = ["."]) =>
    scanProtected({ workspace, bases, paths, git: undefined });
  const shown = async (...asked: Parameters<typeof scan>): Promise<string[]> =>
    (await scan(...asked)).guards.map(({ target, access }) => `${target} ${access}`);

  it("finds nothing where nothing is, and makes nothing", async () => {
    const { present, guards } = await scan([".env", ".github/workflows"]);
    assert.deepEqual([present.size, guards.length], [0, 0]);
  });

  it("guards what is there, and the directories on the way to it as mounts of their own", async () => {
    await put(".env", ".github/workflows/ci.yml", ".github/other");
    assert.deepEqual(await shown([".env", ".github/workflows", ".vscode"]), [
      "/workspace/.env read",
      "/workspace/.github write",
      "/workspace/.github/workflows read",
    ]);
  });

  it("finds a repository by its content among any number of directories", async () => {
    const paths = { workspace, bases: ["."], paths: [], git: "guarded" } as const;
    for (let each = 0; each < 600; each++) await mkdir(join(workspace, `a${each}`));
    const before = await scanProtected(paths);
    await put("z/HEAD", "z/objects/x", "z/refs/x");
    await writeFile(join(workspace, "z/config"), "[core]\n\tpager = ./x\n");
    const { present } = await scanProtected(paths, before);
    assert.deepEqual([...present.keys()], ["z/HEAD"]);
  });

  it("guards work trees and submodules of a repository, however many others come before them", async () => {
    for (const place of ["worktrees", "modules"]) {
      for (let each = 0; each < 130; each++) {
        await mkdir(join(workspace, ".git", place, `a${each}`), { recursive: true });
      }
    }
    await put(".git/worktrees/wt/commondir", ".git/modules/sub/HEAD", ".git/modules/sub/config");
    const { guards } = await scanProtected({ workspace, bases: ["."], paths: [], git: "guarded" });
    assert.deepEqual(
      guards.filter(({ access }) => access === "read").map(({ target }) => target),
      ["/workspace/.git/modules/sub/config", "/workspace/.git/worktrees/wt/commondir"],
    );
  });

  it("compares names without regard to case, and in one form of Unicode", async () => {
    await put(".ENV", ".GitHub/WorkFlows/a", "caf\u0065\u0301");
    const { present } = await scan([".env", ".github/workflows", "caf\u00e9"]);
    assert.deepEqual([...present.keys()].sort(), [".ENV", ".GitHub/WorkFlows", "caf\u0065\u0301"]);
  });

  it("takes a star for any part of one name, and of no other", async () => {
    await put("keys/a.key", "keys/b.txt", "keys/deep/c.key", "a+b.key");
    const { present } = await scan(["keys/*.key", "a+b.*"]);
    assert.deepEqual([...present.keys()].sort(), ["a+b.key", "keys/a.key"]);
  });

  it("guards what links at protected names lead to, and follows none out of the workspace", async () => {
    await put("elsewhere/workflows/a", "elsewhere/other");
    await symlink("elsewhere", join(workspace, ".github"));
    await symlink("/etc", join(workspace, ".vscode"));
    const { present, guards } = await scan([".github/workflows", ".vscode", ".env"]);
    assert.deepEqual(
      [...present].map(([path, { kind, target }]) => [path, kind, target]),
      [
        [".github", "link", "elsewhere"],
        [".vscode", "link", "/etc"],
        ["elsewhere/workflows", "directory", undefined],
      ],
    );
    assert.deepEqual(
      guards.map(({ target, access }) => `${target} ${access}`),
      ["/workspace/elsewhere write", "/workspace/elsewhere/workflows read"],
    );
  });

  it("looks below every base, and enters no base through a link", async () => {
    await put("packages/one/.env", "real/.env");
    await symlink("real", join(workspace, "linked"));
    assert.deepEqual(await shown([".env"], [".", "packages/one", "linked", "absent/x"]), [
      "/workspace/packages write",
      "/workspace/packages/one write",
      "/workspace/packages/one/.env read",
    ]);
  });

  it("keeps a path read-only that is protected by itself and holds another", async () => {
    await put(".git/config", ".git/hooks/pre-commit");
    const [guard, ...more] = await shown([".git", ".git/hooks"]);
    assert.deepEqual([guard, more], ["/workspace/.git read", []]);
  });

  it("refuses a workspace with more protected paths than can be mounted, and finds all that a program left", async () => {
    await put(...Array.from({ length: 1025 }, (_, index) => `${index}.key`));
    await assert.rejects(scan(["*.key"]), { code: "RESOURCE_EXCEEDED" });
    const left = await scanProtected({ ...SCAN, workspace, paths: ["*.key"] }, { present: new Map() });
    assert.deepEqual([left.present.size, left.guards], [1025, []]);
  });

  it("guards submodules and work trees however many directories lie beside them, and refuses too many", async () => {
    const all = Array.from({ length: 300 }, (_, at) => at);
    const repositories = all.slice(0, 20).map((at) => `.git/modules/vendor/deep/er/still/one/two/m${at}`);
    const worktrees = all.slice(0, 20).map((at) => `.git/worktrees/w${at}`);
    await put(...repositories.flatMap((path) => [`${path}/HEAD`, `${path}/config`]));
    await put(...worktrees.map((path) => `${path}/commondir`));
    const fill = (directory: string, from: readonly number[]) =>
      Promise.all(from.map((at) => mkdir(join(workspace, directory, `made${at}`), { recursive: true })));
    await fill(".git/modules", all);
    await fill(".git/modules/vendor/deep/er/still/one/two", all);
    await fill(".git/worktrees", all);
    const scanGit = (before?: Parameters<typeof scanProtected>[1]) =>
      scanProtected({ workspace, bases: ["."], paths: [], git: "guarded" }, before);
    const before = await scanGit();
    const expected = [...repositories.map((path) => `${path}/config`), ...worktrees.map((path) => `${path}/commondir`)];
    const guarded = new Set(before.guards.map(({ target }) => target));
    assert.deepEqual(
      expected.filter((path) => !guarded.has(`/workspace/${path}`)),
      [],
    );
    await fill(
      ".git/modules",
      Array.from({ length: 1500 }, (_, at) => 300 + at),
    );
    await put(".git/modules/new/config");
    assert.ok((await scanGit(before)).present.has(".git/modules/new/config"));
    await assert.rejects(scanGit(), { code: "RESOURCE_EXCEEDED", message: /has more than 2048 directories/ });
  });

  it("finds repositories by their content among any number of directories, before a program and after it", async () => {
    const many = Array.from({ length: 600 }, (_, at) => `made${at}/x`);
    await Promise.all(many.map((path) => mkdir(join(workspace, path), { recursive: true })));
    const repository = (name: string) => ["HEAD", "config", "objects/x", "refs/x"].map((part) => `${name}/${part}`);
    const names = Array.from({ length: 20 }, (_, at) => `fixture${at}`);
    await put(...names.flatMap(repository));
    const scanGit = (before?: Parameters<typeof scanProtected>[1]) =>
      scanProtected({ workspace, bases: ["."], paths: [], git: "guarded" }, before);
    const before = await scanGit();
    const guarded = new Set(before.guards.map(({ target }) => target));
    assert.ok(names.every((name) => guarded.has(`/workspace/${name}/config`)));
    const planted = Array.from({ length: 20 }, (_, at) => `planted${at}`);
    await put(...planted.flatMap(repository));
    for (const name of planted) await writeFile(join(workspace, name, "config"), "[core]\n\tfsmonitor = x\n");
    const { present } = await scanGit(before);
    assert.ok(planted.every((name) => present.has(`${name}/HEAD`)));
  });

  it("refuses a protected name that cannot be mounted, and finds it after a program", async () => {
    await writeFile(Buffer.concat([Buffer.from(`${workspace}/`), Buffer.of(0xff), Buffer.from(".key")]), "x");
    await assert.rejects(scan(["*.key"]), { code: "SANDBOX_UNAVAILABLE", message: /^`\\xff\.key` is protected/ });
    const left = await scanProtected({ ...SCAN, workspace, paths: ["*.key"] }, { present: new Map() });
    assert.deepEqual([...left.present.keys()], ["\udcff.key"]);
  });

  for (const mode of [0o000, 0o111, 0o444]) {
    it(`looks into a directory of mode ${mode.toString(8)} after a program, and guards it as a whole before one`, async () => {
      await put(".cargo/config.toml");
      await chmod(join(workspace, ".cargo"), mode);
      await asOwner(async () => {
        const before = await scan([".cargo/config.toml"]);
        assert.deepEqual([...before.present.keys()], [".cargo"]);
        const known = await scanProtected({ ...SCAN, workspace, paths: [".cargo/config.toml"] }, before);
        assert.deepEqual([...known.present.keys()], [".cargo"]);
        const left = await scanProtected({ ...SCAN, workspace, paths: [".cargo/config.toml"] }, { present: new Map() });
        assert.deepEqual([...left.present.keys()], [".cargo/config.toml"]);
      });
    });
  }

  it("refuses a workspace that cannot be read, and opens one that a program closed", async () => {
    await put(".env");
    await chmod(workspace, 0);
    await asOwner(async () => {
      await assert.rejects(scan([".env"]), { code: "SANDBOX_UNAVAILABLE" });
      const left = await scanProtected({ ...SCAN, workspace, paths: [".env"] }, { present: new Map() });
      assert.deepEqual([...left.present.keys()], [".env"]);
    });
  });

  /** As an ordinary user, to whom modes mean something. */
  async function asOwner(work: () => Promise<void>): Promise<void> {
    if (process.getuid?.() !== 0) return await work();
    await chmod(root, 0o755);
    for (const path of ["", ...(await readdir(workspace, { recursive: true }))])
      await chown(join(workspace, path), 1000, 1000);
    process.seteuid?.(1000);
    try {
      await work();
    } finally {
      process.seteuid?.(0);
    }
  }

  it("never takes what lies outside for a protected path, however names are exchanged meanwhile", async () => {
    const outside = join(root, "outside");
    await mkdir(join(outside, "workflows"), { recursive: true });
    await put(".github/workflows/a");
    await symlink(outside, join(workspace, "decoy"));
    const forbidden = new Set([
      String((await stat(outside)).ino),
      String((await stat(join(outside, "workflows"))).ino),
    ]);
    const racer: ChildProcess = spawn("python3", [RACER, join(workspace, ".github"), join(workspace, "decoy")], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    try {
      assert.ok(racer.stdout);
      await once(racer.stdout, "data");
      const seen = new Set<string>();
      for (let tries = 0; tries < 500; tries++) {
        const { present, guards } = await scan([".github/workflows"]);
        for (const { guard } of guards) assert.equal(forbidden.has(String(guard?.inode)), false);
        for (const [path, { kind, inode }] of present) {
          assert.equal(forbidden.has(String(inode)), false, path);
          seen.add(kind);
        }
      }
      assert.ok(seen.size > 0, "the race was none");
    } finally {
      racer.kill("SIGKILL");
    }
  });
});
