import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { createTestHome, ended, objectsOf } from "../cli/home.ts";

const KERNEL = fileURLToPath(new URL("./approvals/approved-kernel.ts", import.meta.url));

/** The places of a call that is asked about, in their order, and what the same call finds after a kill there. */
const PLACES: readonly (readonly [place: string, finds: "asks" | "runs" | "unknown" | "answer"])[] = [
  ["endorse-1", "asks"],
  ["asked", "asks"],
  ["decide-2", "runs"],
  ["endorse-2", "runs"],
  ["grant", "runs"],
  ["invoke", "unknown"],
  ["after-effect", "unknown"],
  ["record", "unknown"],
  ["reply", "answer"],
];

/** A home with an open session whose call waits to be made. */
async function createStory() {
  const at = await createTestHome();
  const notes = join(at.root, "notes");
  const tokenFile = join(at.root, "token");
  const lease = join(at.root, "lease.json");
  await writeFile(lease, '{"tool_patterns": ["effect"]}');
  const { token } = await at.openSession("--lease", lease);
  await writeFile(tokenFile, token);
  await writeFile(notes, "");
  /** Makes the call in a kernel that is killed at this place, and gives what happened in it. */
  async function run(place: string, isLate = false): Promise<string[]> {
    const before = await readFile(notes, "utf8");
    const args = [KERNEL, at.home, notes, tokenFile, place, isLate ? "late" : ""];
    const child = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] });
    const code = await ended(child);
    assert.equal(code, place === "" ? 0 : null, `${place}: ${code}`);
    return (await readFile(notes, "utf8")).slice(before.length).trim().split("\n");
  }
  return { at, run };
}

describe("a kernel killed around an approval", { concurrency: 2, timeout: 300_000 }, () => {
  for (const [place, finds] of PLACES) {
    it(`at ${place}: one yes is one effect, and nobody is asked twice for what was answered`, async () => {
      const { at, run } = await createStory();
      try {
        const first = await run(place);
        const second = await run("");
        const third = await run("");
        const effects = [...first, ...second, ...third].filter((what) => what === "effect").length;
        switch (finds) {
          case "asks":
            assert.deepEqual(second, ["asked", "effect", "answered success"]);
            break;
          case "runs":
            assert.deepEqual(first, ["asked"]);
            assert.deepEqual(second, ["effect", "answered success"]);
            break;
          case "unknown":
            assert.deepEqual(second, ["answered OUTCOME_UNKNOWN"]);
            break;
          case "answer":
            assert.deepEqual(first, ["asked", "effect"]);
            assert.deepEqual(second, ["answered success"]);
        }
        // What was answered stays answered.
        assert.deepEqual(third, [second.at(-1)]);
        assert.ok(effects <= 1);
        if (finds !== "unknown") assert.equal(effects, 1);
        const { approvals } = await at.ask(["approvals", "list"]);
        assert.deepEqual(objectsOf(approvals), []);
        const report = await at.ask(["ledger", "verify"]);
        assert.deepEqual([report["intact"], report["complete"]], [true, true]);
      } finally {
        await at.remove();
      }
    });
  }

  it("after a yes that nobody waited for: the call runs on it, once", async () => {
    const { at, run } = await createStory();
    try {
      assert.deepEqual(await run("yes given", true), ["asked", "answered APPROVAL_PENDING", "yes given"]);
      assert.deepEqual(await run(""), ["effect", "answered success"]);
      assert.deepEqual(await run(""), ["answered success"]);
      const report = await at.ask(["ledger", "verify"]);
      assert.deepEqual([report["intact"], report["complete"]], [true, true]);
    } finally {
      await at.remove();
    }
  });
});
