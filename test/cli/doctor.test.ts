import assert from "node:assert/strict";
import { chmod, chown, readdir } from "node:fs/promises";
import { spawn } from "node:child_process";
import { text } from "node:stream/consumers";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import { createTestHome, ended, inheritedEnvironment, objectsOf, parseObject, type TestHome, textOf } from "./home.ts";

/** Runs on whatever host this is: what it must say is what the host was found to do. */
describe("narthex doctor", { timeout: 120_000 }, () => {
  let at: TestHome;
  before(async () => {
    at = await createTestHome();
    if (process.getuid?.() !== 0) return;
    // Programs that root starts are the workspace's owner, who must be able to get there.
    await chown(at.workspace, 1000, 1000);
    await chmod(at.root, 0o711);
  });
  after(() => at.remove());

  /** As somebody would: in the directory that an agent is to work in. */
  async function doctor(
    ...options: readonly string[]
  ): Promise<{ code: number | null; stdout: string; stderr: string }> {
    const child = spawn(process.execPath, [at.program, "doctor", ...options], {
      cwd: at.workspace,
      env: { ...inheritedEnvironment(), HOME: at.root, NARTHEX_DATA: at.home },
      stdio: ["ignore", "pipe", "pipe"],
    });
    const [stdout, stderr, code] = await Promise.all([text(child.stdout), text(child.stderr), ended(child)]);
    return { code, stdout, stderr };
  }

  it("prints each mechanism, each prefix, each class of tools and the level as JSON", async () => {
    const { code, stdout, stderr } = await doctor("--json");
    assert.equal(stderr, "");
    const report = parseObject(stdout);
    assert.match(textOf(report["level"]), /^L[012]$/);
    const mechanisms = objectsOf(report["mechanisms"]);
    assert.ok(mechanisms.length >= 20, stdout);
    for (const row of mechanisms) {
      assert.ok(["holds", "fails", "untried"].includes(textOf(row["state"])));
      assert.ok(textOf(row["how"]) !== "" && textOf(row["name"]) !== "");
      assert.ok(row["state"] === "holds" || textOf(row["advice"]) !== "", textOf(row["name"]));
    }
    const classes = objectsOf(report["tool_classes"]);
    assert.deepEqual(
      classes.map(({ name }) => name),
      ["files", "shell", "git"],
    );
    assert.equal(code, classes.some(({ state }) => state === "disabled") ? 1 : 0);
    // The set-up takes the headers away from this Node, and a program without libraries beside it is mounted alone.
    const isNode = ({ kind, prefix }: JsonObject): boolean => kind === "node" || prefix === process.execPath;
    const nodes = objectsOf(report["toolchains"]).filter((found) => isNode(found) && found["usable"] === true);
    assert.ok(nodes.length > 0 || process.execPath.startsWith("/usr/"), stdout);
  });

  it("prints the same as a table, and the next steps", async () => {
    const { code, stdout } = await doctor();
    assert.match(stdout, /^MECHANISM +ENFORCED +HOW IT WAS TRIED +WHAT WAS SEEN +WHAT TO DO\n/);
    assert.match(stdout, /\nwatchdog +yes +/);
    assert.match(stdout, /\nTOOLS +STATE +WHY\nfiles +ready/);
    assert.match(stdout, /\nL[01]: programs are contained/);
    assert.match(stdout, /\nshell backend {2}sandbox/);
    assert.equal(code, 0);
  });

  it("prints the administrator's steps, or that no steps are needed", async () => {
    const { code, stdout } = await doctor("--fix");
    assert.match(stdout, /^(?:# .+\n(?:[^\n]*\n)+|there is nothing to fix\n)$/);
    assert.equal(code, 0);
  });

  it("works beside a running kernel, without its lock, and does not create a missing home", async () => {
    await doctor("--json");
    await assert.rejects(readdir(at.home), { code: "ENOENT" });
    const serving = await at.serve();
    assert.equal((await doctor("--json")).code, 0);
    assert.equal(await serving.stop(), 0);
  });
});
