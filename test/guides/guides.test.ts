import assert from "node:assert/strict";
import { chmod, chown, mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { createTestHome, inheritedEnvironment, type TestHome } from "../cli/home.ts";
import { runGuide } from "./run-guide.ts";

const ROOT = new URL("../../", import.meta.url);
const guideAt = (name: string): URL => new URL(`docs/guides/${name}.md`, ROOT);

describe("the guides, word for word", { timeout: 300_000 }, () => {
  let at: TestHome;
  let env: NodeJS.ProcessEnv;
  before(async () => {
    at = await createTestHome();
    await chmod(at.root, 0o755);
    const programs = join(at.root, "bin");
    await mkdir(programs);
    await writeFile(join(programs, "narthex"), `#!/bin/sh\nexec "${process.execPath}" "${at.program}" "$@"\n`, {
      mode: 0o755,
    });
    // Debian's Python comes first: another one may lack the packages.
    const PATH = `${programs}:/usr/bin:${process.env["PATH"] ?? ""}`;
    env = { ...inheritedEnvironment(), HOME: at.root, NARTHEX_DATA: at.home, GRPC_VERBOSITY: "ERROR", PATH };
  });
  after(() => at.remove());

  it("a tool in Python and one in TypeScript are written, added, called and refused what is wrong", async () => {
    assert.ok((await runGuide({ guide: guideAt("write-a-tool"), cwd: at.root, env })) >= 7);
  });

  it("functions become tools, for a kernel and for a home", async () => {
    const cwd = join(at.root, "functions");
    await mkdir(cwd);
    assert.ok((await runGuide({ guide: guideAt("generate"), cwd, env })) >= 4);
  });

  it("a program in Python calls tools by gRPC, twice under one id, and does it once", async () => {
    // As root, tools change only a workspace that is somebody else's.
    const workspace = join(at.root, "python-workspace");
    await mkdir(workspace);
    if (process.getuid?.() === 0) await chown(workspace, 1000, 1000);
    const serving = await at.serve();
    const { host } = new URL(String(serving.ready["listen"]));
    const settings = { ...env, NARTHEX_ADDRESS: host };
    assert.ok((await runGuide({ guide: guideAt("python"), cwd: fileURLToPath(ROOT), env: settings })) >= 6);
    assert.equal(await serving.stop(), 0);
  });

  it("every guide is in the README's list", async () => {
    const readme = await readFile(new URL("README.md", ROOT), "utf8");
    for (const name of ["python", "write-a-tool", "generate"])
      assert.ok(readme.includes(`(docs/guides/${name}.md)`), name);
  });
});
