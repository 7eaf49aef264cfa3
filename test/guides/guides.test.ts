import assert from "node:assert/strict";
import { chmod, chown, mkdir, readdir, readFile, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { beforeKernel } from "../built/kernel-program.ts";
import { createTestHome, inheritedEnvironment, type TestHome } from "../cli/home.ts";
import { runGuide } from "./run-guide.ts";

const ROOT = new URL("../../", import.meta.url);
const guideAt = (name: string): URL => new URL(`docs/guides/${name}.md`, ROOT);

describe("the guides, word for word", { timeout: 600_000 }, () => {
  let at: TestHome;
  let env: NodeJS.ProcessEnv;
  before(async () => {
    at = await createTestHome();
    await chmod(at.root, 0o755);
    const programs = join(at.root, "bin");
    await mkdir(programs);
    await symlink(process.execPath, join(programs, "node"));
    // As an installation by npm leaves it, so that commands are printed by this name.
    await symlink(at.program, join(programs, "narthex"));
    // Debian's Python comes first: another one may lack the packages.
    const PATH = `${programs}:/usr/bin:${process.env["PATH"] ?? ""}`;
    const own = { HOME: at.root, NARTHEX_DATA: at.home, GRPC_VERBOSITY: "ERROR", npm_lifecycle_event: undefined };
    env = { ...inheritedEnvironment(), ...own, PATH };
  });
  after(() => at.remove());

  /** A user of their own, whose kernel's home is where it is by default. */
  async function settle(name: string): Promise<{ readonly home: string; readonly settings: NodeJS.ProcessEnv }> {
    const home = join(at.root, name);
    await mkdir(home);
    return { home, settings: { ...env, HOME: home, NARTHEX_DATA: undefined } };
  }

  /** As root, tools change only a workspace that is somebody else's. */
  async function makeWorkspace(path: string): Promise<void> {
    await mkdir(path);
    if (process.getuid?.() === 0) await chown(path, 1000, 1000);
  }

  it("a tool in Python and one in TypeScript are written, added, called and rejected with wrong input", async () => {
    assert.ok((await runGuide({ guide: guideAt("write-a-tool"), cwd: at.root, env })) >= 7);
  });

  it("a tool in WebAssembly is written, added, called and limited", async () => {
    const cwd = join(at.root, "wasm");
    await makeWorkspace(cwd);
    assert.ok((await runGuide({ guide: guideAt("wasm"), cwd, env })) >= 6);
  });

  it("functions become tools of a kernel and of a home", async () => {
    const cwd = join(at.root, "functions");
    await mkdir(cwd);
    assert.ok((await runGuide({ guide: guideAt("generate"), cwd, env })) >= 4);
  });

  it("a program in Python calls tools by gRPC, twice under one id, with one effect", async () => {
    await makeWorkspace(join(at.root, "python-workspace"));
    const serving = await at.serve();
    const { host } = new URL(String(serving.ready["listen"]));
    const settings = { ...env, NARTHEX_ADDRESS: host };
    assert.ok((await runGuide({ guide: guideAt("python"), cwd: fileURLToPath(ROOT), env: settings })) >= 6);
    assert.equal(await serving.stop(), 0);
  });

  it("clients are connected and disconnected again, and the hook responds in between", async () => {
    const { home, settings } = await settle("clients");
    await makeWorkspace(join(home, "project"));
    assert.ok((await runGuide({ guide: guideAt("clients"), cwd: home, env: settings })) >= 5);
    assert.deepEqual(await readdir(join(home, "project")), [".git"]);
  });

  it("an agent of the AI SDK runs, is inspected and gets more permissions", async () => {
    const { home, settings } = await settle("ai-sdk");
    // The example finds the package as it is built, and what other tests have compiled of it.
    const words = [process.execPath, ...beforeKernel()].map((word) => `"${word}"`).join(" ");
    const cache = process.env["NODE_COMPILE_CACHE"] ?? "";
    await writeFile(join(home, "node"), `#!/bin/sh\nNODE_COMPILE_CACHE="${cache}" exec ${words} "$@"\n`, {
      mode: 0o755,
    });
    const guided = { ...settings, PATH: `${home}:${settings["PATH"] ?? ""}` };
    assert.ok((await runGuide({ guide: guideAt("ai-sdk"), cwd: fileURLToPath(ROOT), env: guided })) >= 4);
  });

  it("a checkpoint is kept, and a newer one and a record are proven", async () => {
    const { home, settings } = await settle("proofs");
    assert.ok((await runGuide({ guide: guideAt("proofs"), cwd: home, env: settings })) >= 3);
  });

  it("an MCP server is configured, approved, permitted and called", async () => {
    const { home, settings } = await settle("mcp-servers");
    await makeWorkspace(join(home, "memory-workspace"));
    assert.ok((await runGuide({ guide: guideAt("mcp-servers"), cwd: fileURLToPath(ROOT), env: settings })) >= 4);
  });

  it("a session gets a host, with approval, and is denied others", async () => {
    const { home, settings } = await settle("network");
    await makeWorkspace(join(home, "network-workspace"));
    assert.ok((await runGuide({ guide: guideAt("network"), cwd: home, env: settings })) >= 7);
  });

  it("a client without a library calls a tool over MCP", async () => {
    const { home, settings } = await settle("mcp");
    await makeWorkspace(join(home, "by-hand"));
    assert.equal(await runGuide({ guide: guideAt("mcp"), cwd: home, env: settings }), 1);
  });

  it("a session is replayed, a tool with a false declaration is caught, and a bundle is verified without a home", async () => {
    const { home, settings } = await settle("replay");
    await makeWorkspace(join(home, "replay-workspace"));
    assert.ok((await runGuide({ guide: guideAt("replay"), cwd: home, env: settings })) >= 5);
  });

  it("content is erased and retained, and a home is backed up and restored", async () => {
    const { home, settings } = await settle("retention");
    assert.ok((await runGuide({ guide: guideAt("retention"), cwd: home, env: settings })) >= 7);
  });

  it("a call prints its spans", async () => {
    const { home, settings } = await settle("tracing");
    assert.ok((await runGuide({ guide: guideAt("tracing"), cwd: home, env: settings })) >= 1);
  });

  it("the tutorial connects a project, and a call in it is allowed, denied and recorded", async () => {
    const { home, settings } = await settle("tutorial");
    await makeWorkspace(join(home, "tutorial"));
    const guide = new URL("docs/tutorial.md", ROOT);
    assert.ok((await runGuide({ guide, cwd: home, env: settings })) >= 5);
  });

  it("lists every guide on the page of guides", async () => {
    const page = await readFile(guideAt("README"), "utf8");
    const names = (await readdir(new URL("docs/guides/", ROOT))).filter((name) => name !== "README.md");
    for (const name of names) assert.ok(page.includes(`(${name})`), name);
  });
});
