import assert from "node:assert/strict";
import { chmod, mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, test } from "node:test";
import { findToolchains, type ToolchainOptions } from "./find-toolchains.ts";
import type { Toolchain } from "./toolchain.ts";
import { toolchainEnvironment, toolchainPath, toolchainMounts } from "./toolchain-plan.ts";

const uid = process.getuid?.() ?? 0;
const SYSTEM = "/usr/local/bin:/usr/bin:/bin";

describe("findToolchains", () => {
  let root: string;
  let home: string;
  before(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), "narthex-prefixes-")));
    await chmod(root, 0o755);
    home = join(root, "user");
    await mkdir(home);
  });
  after(() => rm(root, { recursive: true }));

  /** Makes a file, and the directories on the way to it. */
  async function file(path: string, content = "", mode = 0o755): Promise<string> {
    const whole = path.startsWith("/") ? path : join(home, path);
    await mkdir(dirname(whole), { recursive: true });
    await writeFile(whole, content, { mode });
    return whole;
  }

  async function find(path: readonly string[], changes: Partial<ToolchainOptions> = {}): Promise<Toolchain[]> {
    return await findToolchains({
      path: path.map((entry) => (entry.startsWith("/") ? entry : join(home, entry))).join(":"),
      userHome: home,
      kernelHome: join(home, ".narthex"),
      identity: { uid, gid: process.getgid?.() ?? 0 },
      // In the system, so that only the PATH is looked at.
      node: "/usr/bin/env",
      ...changes,
    });
  }

  const only = async (path: string, changes?: Partial<ToolchainOptions>): Promise<Toolchain> => {
    const [first, ...rest] = await find([path], changes);
    assert.ok(first !== undefined && rest.length === 0, path);
    return first;
  };

  test("refuses what holds more than programs, each with its reason", async () => {
    await file(".ssh/known_hosts");
    await file(".narthex/bin/tool");
    await file("work/bin/tool");
    await file(".aws/bin/tool");
    await file("leaky/lib/x");
    await file("leaky/bin/tool");
    await file("leaky/lib/app/id_ed25519");
    const key = "-----BEGIN PRIVATE KEY-----\n";
    for (const [name, path, content] of [
      ["variables", "lib/.ENV", ""],
      ["tokens", "share/app/.npmrc", ""],
      ["cloud", "libexec/.config/gcloud", ""],
      ["served", "lib/ssl/private/server.key", key],
      ["signed", "bin/chain.pem", `certificate\n${key}`],
      ["versioned", "bin/.git/config", ""],
    ] as const) {
      await file(`${name}/bin/tool`);
      await file(`${name}/lib/x`);
      await file(`${name}/${path}`, content);
    }
    for (const number of [1, 2, 3]) await file(`large/lib/below/${number}`);
    await file("large/bin/tool");
    const refused: [path: string, reason: RegExp, changes?: Partial<ToolchainOptions>][] = [
      [home, /is no toolchain/],
      ["/", /is no toolchain/],
      ["/etc", /is no toolchain/],
      ["/etc/alternatives", /lies in `\/etc`/],
      ["/proc/self", /lies in `\/proc`/],
      ["/tmp", /is no toolchain|it holds/],
      [join(home, ".narthex/bin"), /lies in `.*\.narthex`/],
      [join(home, ".ssh"), /is no toolchain/],
      [join(home, ".aws/bin"), /lies in `.*\.aws`/],
      [join(home, "leaky/bin"), /holds `.*id_ed25519`/],
      [join(home, "variables/bin"), /holds `.*\.ENV`/],
      [join(home, "tokens/bin"), /holds `.*\.npmrc`/],
      [join(home, "cloud/bin"), /holds `.*\.config\/gcloud`/],
      [join(home, "served/bin"), /holds `.*server\.key`/],
      [join(home, "signed/bin"), /holds `.*chain\.pem`/],
      [join(home, "versioned/bin"), /holds `.*\.git`/],
      [join(home, "large/bin"), /`.*large\/lib` holds more files than can be looked through/, { maxScanned: 4 }],
      [join(home, "work/bin"), /lies in `.*\/work`/, { workspace: join(home, "work") }],
    ];
    for (const [path, reason, changes] of refused) {
      const found = await only(path, changes);
      assert.match(found.unusable ?? "", reason, path);
      assert.deepEqual(toolchainMounts([found]), []);
      assert.equal(toolchainPath([found]), SYSTEM);
    }
  });

  test("shows of a prefix its programs and libraries, and nothing that lies beside them", async () => {
    await file("acme/bin/tool");
    await file("acme/lib/cert.pem", "-----BEGIN CERTIFICATE-----\n");
    await file("acme/lib/python3.12/test/keycert.pem", "-----BEGIN PRIVATE KEY-----\n");
    await file("acme/.env");
    await file("acme/etc/server.key", "-----BEGIN PRIVATE KEY-----\n");
    await file("acme/diary.txt");
    await file("elsewhere/diary.txt");
    await symlink("lib", join(home, "acme/lib64"));
    await symlink(join(home, "elsewhere"), join(home, "acme/share"));
    await file(".pyenv/versions/3.12.1/.env");
    await file(".pyenv/versions/3.12.1/envs/mine/bin/python");
    await symlink("3.12.1/envs/mine", join(home, ".pyenv/versions/mine"));
    await file(".pyenv/plugins/update/.git/config");
    await file(".pyenv/plugins/update/shims/tool");
    await file(".asdf/.npmrc");
    await file(".asdf/bin/asdf");
    await file(".asdf/installs/java/21/conf/x");
    await file(".asdf/plugins/java/bin/exec-env");
    const found = await find(["acme/bin", ".pyenv/plugins/update/shims", ".asdf/bin"]);
    assert.deepEqual(
      found.map(({ unusable }) => unusable),
      [undefined, undefined, undefined],
    );
    assert.deepEqual(
      toolchainMounts(found).map(({ source, target }) => {
        const [from, to] = [source, target].map((path) => path.slice(home.length + 1));
        return from === to ? from : `${from} as ${to}`;
      }),
      [
        "acme/bin",
        "acme/lib",
        "acme/lib as acme/lib64",
        ".pyenv/versions/3.12.1/envs/mine/bin as .pyenv/versions/mine/bin",
        ".pyenv/plugins/update/shims",
        ".asdf/bin",
        ".asdf/plugins/java/bin",
        ".asdf/installs/java/21/conf",
      ],
    );
    await Promise.all([".pyenv", ".asdf"].map((name) => rm(join(home, name), { recursive: true })));
  });

  test("shows programs alone where what lies beside them may not be shown", async () => {
    await file("bin/tool");
    await file("lib/x");
    await file("around/bin/tool");
    await file("around/lib/x");
    const found = await find(["bin", "around/bin"], { kernelHome: join(home, "around/lib") });
    assert.deepEqual(
      toolchainMounts(found).map(({ source }) => source),
      [join(home, "bin"), join(home, "around/bin")],
    );
  });

  test("refuses a prefix with a socket in it", async () => {
    await file("served/bin/tool");
    const server = createServer().listen(join(home, "served/bin/agent.sock"));
    await new Promise((resolve) => server.once("listening", resolve));
    assert.match((await only("served/bin")).unusable ?? "", /holds a socket/);
    server.close();
  });

  test("names the directory that is closed to the user programs run as", async () => {
    await file("closed/bin/tool");
    await chmod(join(home, "closed"), 0o700);
    // Whoever runs this test owns it; somebody else is barred.
    const found = await only("closed/bin", { identity: { uid: uid + 4711, gid: uid + 4711 } });
    assert.equal(found.unusable, `\`${home}/closed\` is closed to user ${uid + 4711}, as whom programs run inside`);
  });

  test("follows no link of the workspace or of a project", async () => {
    await file("secret/tool");
    for (const place of ["agent/bin", "project/node_modules/.bin"]) {
      await mkdir(join(home, place), { recursive: true });
      await symlink(join(home, "secret/tool"), join(home, place, "tool"));
    }
    const found = await find(["agent/bin", "project/node_modules/.bin"], { workspace: join(home, "agent") });
    assert.deepEqual(
      found.map(({ unusable }) => unusable),
      [`it lies in \`${home}/agent\``, "it belongs to a project"],
    );
  });

  test("shows of a linked program that file alone, or the prefix it was installed in", async () => {
    await file("notes/tool");
    await file("notes/diary");
    await file(".local/share/uv/python/cpython-3.12.1/bin/python3");
    await file(".local/share/uv/python/cpython-3.12.1/lib/python3.12/os.py");
    await mkdir(join(home, ".local/bin"), { recursive: true });
    await file("notes/letter", "", 0o644);
    await symlink(join(home, "notes/tool"), join(home, ".local/bin/tool"));
    await symlink(join(home, "notes/letter"), join(home, ".local/bin/letter"));
    await symlink(join(home, ".local/share/uv/python/cpython-3.12.1/bin/python3"), join(home, ".local/bin/python3"));
    const found = await find([".local/bin"]);
    assert.deepEqual(
      toolchainMounts(found)
        .map(({ source }) => source)
        .sort(),
      [
        ".local/bin",
        ".local/share/uv/python/cpython-3.12.1/bin",
        ".local/share/uv/python/cpython-3.12.1/lib",
        "notes/tool",
      ].map((path) => join(home, path)),
    );
    assert.equal(toolchainPath(found), `${home}/.local/bin:${SYSTEM}`);
    assert.deepEqual(found.map(({ kind, version }) => `${kind} ${version ?? ""}`).sort(), [
      "file ",
      "python ",
      "python 3.12",
    ]);
  });

  test("knows the layouts of version managers, and shows no more than programs need", async () => {
    await file(".nvm/versions/node/v22.1.0/bin/node");
    await file(".nvm/alias/default");
    await file(".cargo/bin/cargo");
    await file(".cargo/credentials.toml", "token");
    await file(".rustup/toolchains/stable/bin/rustc");
    await file(".rustup/settings.toml", 'default_toolchain = "stable"\n');
    await file(".pyenv/shims/python");
    await file(".pyenv/version", "3.13.0\n");
    await file(".sdkman/candidates/java/21.0.1-tem/bin/java");
    await file("sdk/go1.23/bin/go");
    await file("sdk/go1.23/VERSION", "go1.23.4\ntime x\n");
    await file("miniconda3/envs/science/bin/python");
    await file("miniconda3/envs/science/conda-meta/history");
    await file("share/fnm/node-versions/v20.0.0/installation/bin/node");
    await file("repository/bin/tool");
    await file("repository/lib/x");
    await file("repository/.git/HEAD");
    const path = [
      ".nvm/versions/node/v22.1.0/bin",
      ".cargo/bin",
      ".pyenv/shims",
      ".sdkman/candidates/java/21.0.1-tem/bin",
      "sdk/go1.23/bin",
      "miniconda3/envs/science/bin",
      "share/fnm/node-versions/v20.0.0/installation/bin",
      "repository/bin",
    ];
    const found = await find(path);
    assert.deepEqual(
      found.map(({ kind, prefix, version, unusable }) => [kind, prefix.slice(home.length + 1), version, unusable]),
      [
        ["nvm", ".nvm/versions/node/v22.1.0", "22.1.0", undefined],
        ["rustup", ".cargo/bin", "stable", undefined],
        ["pyenv", ".pyenv", "3.13.0", undefined],
        ["sdkman", ".sdkman/candidates/java/21.0.1-tem", "21.0.1-tem", undefined],
        ["go", "sdk/go1.23", "go1.23.4", undefined],
        ["conda", "miniconda3/envs/science", undefined, undefined],
        ["fnm", "share/fnm/node-versions/v20.0.0/installation", "20.0.0", undefined],
        ["other", "repository/bin", undefined, undefined],
      ],
    );
    assert.equal(toolchainPath(found), [...path.map((entry) => join(home, entry)), SYSTEM].join(":"));
    assert.deepEqual(toolchainEnvironment(found), {
      RUSTUP_HOME: join(home, ".rustup"),
      PYENV_ROOT: join(home, ".pyenv"),
      JAVA_HOME: join(home, ".sdkman/candidates/java/21.0.1-tem"),
    });
    assert.ok(toolchainMounts(found).every(({ source, target, access }) => source === target && access === "read"));
  });

  test("keeps the user's order and the name that a link gives to a prefix", async () => {
    await file("tools-2.0/bin/tool");
    await file("tools-2.0/lib/x");
    await file("late/bin/tool");
    await file("late/lib/x");
    await symlink(join(home, "tools-2.0"), join(home, "tools"));
    const found = await find(["tools/bin", "relative/../late/none", "/usr/bin", "late/bin", "missing/bin"]);
    assert.equal(toolchainPath(found), `${home}/tools-2.0/bin:${SYSTEM}:${home}/late/bin`);
    assert.deepEqual(
      toolchainMounts(found).map(({ source, target }) => [source, target].map((path) => path.slice(home.length + 1))),
      [
        ["tools-2.0/bin", "tools-2.0/bin"],
        ["tools-2.0/lib", "tools-2.0/lib"],
        ["tools-2.0/bin", "tools/bin"],
        ["tools-2.0/lib", "tools/lib"],
        ["late/bin", "late/bin"],
        ["late/lib", "late/lib"],
      ],
    );
  });

  test("has the Node that runs this, by the real path of its prefix", async () => {
    const node = await realpath(process.execPath);
    const found = await findToolchains({
      path: "relative/bin:.:",
      userHome: home,
      kernelHome: join(home, ".narthex"),
      identity: { uid, gid: process.getgid?.() ?? 0 },
    });
    if (node.startsWith("/usr/")) assert.deepEqual(found, []);
    else {
      assert.equal(found.length, 1);
      assert.equal(found[0]?.unusable, undefined);
      assert.ok(toolchainPath(found).endsWith(`:${dirname(node)}`));
    }
  });
});
