import assert from "node:assert/strict";
import {
  chmod,
  chown,
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
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { type Containment, openContainment } from "../sandbox/open-containment.ts";
import { nameFromBytes } from "./file-name.ts";
import { scanProtected } from "./scan-protected.ts";
import { createRestoreProtected, type RestoreProtected } from "./restore-protected.ts";

const OWNER = 1000;
const isRoot = process.getuid?.() === 0;

describe("setting aside", { timeout: 120_000 }, () => {
  let root: string;
  let containment: Containment;
  let setAside: RestoreProtected;
  let count = 0;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), "narthex-aside-"));
    await chmod(root, 0o755);
    containment = await openContainment({ directory: join(root, "machine") });
    setAside = createRestoreProtected(() => Promise.resolve(containment));
  });
  after(async () => {
    await containment.close();
    await rm(root, { recursive: true, force: true });
  });

  async function makeWorkspace(): Promise<string> {
    const workspace = join(root, `workspace-${++count}`);
    await mkdir(workspace);
    return workspace;
  }
  const own = async (...paths: readonly (string | Buffer)[]): Promise<void> => {
    if (isRoot) for (const path of paths) await chown(path, OWNER, OWNER);
  };
  const bytesOf = (...parts: readonly (string | readonly number[])[]): Buffer =>
    Buffer.concat(parts.map((part) => Buffer.from(part as string)));

  it("takes names of any bytes, and keeps what they named", async () => {
    const workspace = await makeWorkspace();
    const names = [
      bytesOf("-rf.key"),
      bytesOf("two\nlines.key"),
      bytesOf([0xff, 0xfe], ".key"),
      bytesOf("é".repeat(125), "x.key"),
      bytesOf("'$(id)`.key"),
      bytesOf("*.key"),
    ];
    for (const name of names) await writeFile(bytesOf(`${workspace}/`, [...name]), name);
    await own(workspace);
    const scan = { workspace, bases: ["."], paths: ["*.key"], git: undefined };
    const paths = [...(await scanProtected(scan, { present: new Map() })).present.keys()];
    assert.deepEqual(paths.sort(), names.map(nameFromBytes).sort());
    const [place = "", ...more] = await setAside({ workspace, paths, restored: [] });
    assert.deepEqual([more, await readdir(workspace)], [[], [".narthex-taken"]]);
    const kept = await readdir(join(workspace, place));
    const contents = await Promise.all(kept.map((name) => readFile(join(workspace, place, name))));
    assert.deepEqual(contents.sort(Buffer.compare), names.sort(Buffer.compare));
    assert.ok(
      kept.every((name) => /^[0-9]+[A-Za-z0-9_-]+$/.test(name)),
      kept.join(),
    );
  });

  it("closes what git would take for a repository, and nothing else", async () => {
    const workspace = await makeWorkspace();
    for (const path of [".git", ".vscode"]) await mkdir(join(workspace, path));
    await writeFile(join(workspace, ".git/HEAD"), "ref: refs/heads/main\n");
    await own(workspace, join(workspace, ".git"), join(workspace, ".vscode"));
    const [place = ""] = await setAside({ workspace, paths: [".git", ".vscode"], restored: [] });
    const modes = await Promise.all(["1_git", "2_vscode"].map((name) => lstat(join(workspace, place, name))));
    assert.deepEqual(
      modes.map(({ mode }) => mode & 0o777),
      [0, 0o755],
    );
    await chmod(join(workspace, place, "1_git"), 0o755);
  });

  it("puts back links and files, also below a directory that is gone", async () => {
    const workspace = await makeWorkspace();
    await symlink("attack", join(workspace, ".vscode"));
    await own(workspace);
    const restored = [
      { path: ".vscode", target: "own" },
      { path: "gone/.env", content: Buffer.from("KEY=1"), mode: 0o640 },
    ];
    await setAside({ workspace, paths: [".vscode", "not/there"], restored });
    // What two programs leave is put back by both.
    await setAside({ workspace, paths: [], restored });
    assert.equal(await readlink(join(workspace, ".vscode")), "own");
    assert.equal(await readFile(join(workspace, "gone/.env"), "utf8"), "KEY=1");
    assert.equal((await lstat(join(workspace, "gone/.env"))).mode & 0o777, 0o640);
  });

  it("fails with the names of what it could not put back", async () => {
    const workspace = await makeWorkspace();
    await writeFile(join(workspace, ".vscode"), "another");
    await own(workspace);
    const restored = [{ path: ".vscode", target: "own" }];
    await assert.rejects(setAside({ workspace, paths: [], restored }), /`\.vscode` \(E[A-Z]+\) could not be/);
  });
});
