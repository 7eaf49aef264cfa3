import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, it, type TestContext } from "node:test";
import { createKernel, verifyLedger } from "narthex";
import { kernelProgram } from "../built/kernel-program.ts";
import { makeApprovedCall } from "./approvals/approved-call.ts";

const KERNEL = new URL("./approvals/approved-kernel.ts", import.meta.url);

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

interface Story {
  /** Makes the call in a process that is killed at this place, and gives what happened in it. */
  killAt(place: string, late?: "late"): Promise<string[]>;
  /** Makes the call in a kernel that nobody kills. */
  make(): Promise<string[]>;
  /** Nobody is asked any more, and the ledger is sound. */
  assertOver(): Promise<void>;
}

/** A home with an open session whose call waits to be made. */
async function createStory(context: TestContext): Promise<Story> {
  const root = await mkdtemp(join(tmpdir(), "narthex-approved-"));
  context.after(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));
  const [home, workspace, notes] = [join(root, "home"), join(root, "workspace"), join(root, "notes")];
  await mkdir(workspace);
  await writeFile(notes, "");
  const first = await createKernel({ data: home });
  const { token } = await first.session({ workspace, lease: { tool_patterns: ["effect"] } });
  await first.close();

  async function happens(work: () => Promise<void>): Promise<string[]> {
    const before = await readFile(notes, "utf8");
    await work();
    return (await readFile(notes, "utf8")).slice(before.length).trim().split("\n");
  }
  return {
    killAt: (place, late) =>
      happens(async () => {
        const args = kernelProgram(KERNEL, home, notes, token, place, late ?? "");
        const child = spawn(process.execPath, args, { stdio: ["ignore", "inherit", "inherit"] });
        const [code, signal] = await once(child, "exit");
        assert.equal(signal, "SIGKILL", `${place}: ${code}`);
      }),
    make: () => happens(() => makeApprovedCall({ home, notes, token, isLate: false, reach: () => undefined })),
    async assertOver() {
      const kernel = await createKernel({ data: home });
      try {
        assert.deepEqual(kernel.listApprovals().open, []);
        const { intact, complete } = await verifyLedger(kernel.ledgerSource());
        assert.deepEqual([intact, complete], [true, true]);
      } finally {
        await kernel.close();
      }
    },
  };
}

describe("a kernel killed around an approval", { concurrency: 2, timeout: 300_000 }, () => {
  for (const [place, finds] of PLACES) {
    it(`at ${place}: one yes is one effect, and nobody is asked twice for what was answered`, async (context) => {
      const story = await createStory(context);
      const first = await story.killAt(place);
      const second = await story.make();
      const third = await story.make();
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
      await story.assertOver();
    });
  }

  it("after a yes that nobody waited for: the call runs on it, once", async (context) => {
    const story = await createStory(context);
    assert.deepEqual(await story.killAt("yes given", "late"), ["asked", "answered APPROVAL_PENDING", "yes given"]);
    assert.deepEqual(await story.make(), ["effect", "answered success"]);
    assert.deepEqual(await story.make(), ["answered success"]);
    await story.assertOver();
  });
});
