import assert from "node:assert/strict";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import { findOwnCode } from "./own-code.ts";

describe("the kernel's own code", () => {
  let root: string;
  before(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), "narthex-own-")));
  });
  after(() => rm(root, { recursive: true }));

  async function file(path: string, content = ""): Promise<void> {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await writeFile(join(root, path), content);
  }
  async function link(target: string, path: string): Promise<void> {
    await mkdir(dirname(join(root, path)), { recursive: true });
    await symlink(target, join(root, path));
  }
  const packaged = (path: string, ...dependencies: readonly string[]): Promise<void> =>
    file(
      `${path}/package.json`,
      JSON.stringify({ dependencies: Object.fromEntries(dependencies.map((d) => [d, "1"])) }),
    );
  const inside = async (directory: string, workspace: string, path = ""): Promise<string[]> => {
    const own = findOwnCode({ directory: join(root, directory), node: "/usr/bin/env", path });
    return (await own.inside(join(root, workspace))).map((found) => found.slice(root.length + workspace.length + 2));
  };

  it("is found where pnpm linked it, with the places that Node searches before them", async () => {
    const store = "pnpm/node_modules/.pnpm";
    await packaged(`${store}/narthex@1/node_modules/narthex`, "@scope/native");
    await packaged(`${store}/@scope+native@1/node_modules/@scope/native`);
    await link("../../../@scope+native@1/node_modules/@scope/native", `${store}/narthex@1/node_modules/@scope/native`);
    await link(".pnpm/narthex@1/node_modules/narthex", "pnpm/node_modules/narthex");
    const found = await inside("pnpm/node_modules/narthex", "pnpm");
    assert.deepEqual(
      new Set(found),
      new Set([
        "node_modules/.pnpm/narthex@1/node_modules/narthex",
        "node_modules/.pnpm/@scope+native@1/node_modules/@scope/native",
        "node_modules/.pnpm/narthex@1/node_modules/narthex/node_modules/@scope/native",
        "node_modules/.bin/narthex",
        "node_modules/.bin/node",
      ]),
    );
  });

  it("is found as a package of the same repository, and in none of a workspace beside it", async () => {
    await packaged("mono/packages/narthex", "@own/host", "hoisted", "missing");
    await packaged("mono/packages/host");
    await packaged("mono/node_modules/hoisted");
    await link("../../packages/host", "mono/node_modules/@own/host");
    const own = findOwnCode({ directory: join(root, "mono/packages/narthex"), node: "/usr/bin/env", path: "" });
    const found = await inside("mono/packages/narthex", "mono");
    for (const path of ["packages/narthex", "packages/host", "node_modules/hoisted", "packages/node_modules/hoisted"]) {
      assert.ok(found.includes(path), path);
    }
    assert.ok(found.includes("node_modules/missing"), "a dependency that is not installed can be planted");
    assert.equal(await own.overlapping(join(root, "mono")), join(root, "mono/packages/narthex"));
    assert.equal(await own.overlapping(join(root, "mono/packages/host/src")), join(root, "mono/packages/host"));
    assert.equal(await own.overlapping(join(root, "mono/docs")), undefined);
    assert.deepEqual(await inside("mono/packages/narthex", "pnpm/none"), []);
  });

  it("is that of another kernel, too, which the user's PATH finds in the workspace", async () => {
    await packaged("elsewhere/narthex");
    await file("work/tools/narthex/bin/narthex.js");
    await packaged("work/tools/narthex", "dependency");
    await packaged("work/tools/node_modules/dependency");
    await link("../tools/narthex/bin/narthex.js", "work/bin/narthex");
    const found = await inside("elsewhere/narthex", "work", `relative:${join(root, "work/bin")}`);
    for (const path of ["bin/narthex", "bin/node", "tools/narthex", "tools/node_modules/dependency"]) {
      assert.ok(found.includes(path), path);
    }
    assert.deepEqual(await inside("elsewhere/narthex", "work"), []);
  });
});
