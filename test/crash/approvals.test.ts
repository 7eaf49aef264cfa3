import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { cp, mkdir, mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it, type TestContext } from "node:test";
import { createKernel, type NarthexKernel, verifyLedger } from "narthex";
import { kernelProgram } from "../built/kernel-program.ts";
import { sampled } from "../sampled.ts";
import { approvedTools, makeApprovedCall } from "./approvals/approved-call.ts";

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
/** Kernels are killed at every stage in stage-boundaries.test.ts: here one place of each way to go on is enough. */
const KILLED_AT = ["asks", "runs", "unknown", "answer"].flatMap((finds) =>
  sampled(
    PLACES.filter((place) => place[1] === finds),
    1,
  ),
);

interface Story {
  /** Makes the call in a process that is killed at this place, and gives what happened in it. */
  killAt(place: string, late?: "late"): Promise<string[]>;
  /** Makes the call in a kernel that nobody kills. */
  make(): Promise<string[]>;
  /** Makes it once more; then nobody is asked any more, and the ledger is sound. */
  makeLast(): Promise<string[]>;
}

/** A home with an open session whose call waits to be made: every story begins with a copy of it. */
interface Beginning {
  readonly root: string;
  readonly home: string;
  readonly token: string;
}

async function begin(): Promise<Beginning> {
  const root = await mkdtemp(join(tmpdir(), "narthex-approved-"));
  const [home, workspace] = [join(root, "home"), join(root, "workspace")];
  await mkdir(workspace);
  // With the rules of the call, which are checked here, once for all copies.
  const kernel = await createKernel({ data: home, ...approvedTools(() => undefined) });
  const { token } = await kernel.session({ workspace, lease: { tool_patterns: ["effect"] } });
  await kernel.close();
  return { root, home, token };
}

async function createStory(context: TestContext, { home: first, token }: Beginning): Promise<Story> {
  const root = await mkdtemp(join(tmpdir(), "narthex-approved-"));
  context.after(() => rm(root, { recursive: true, force: true, maxRetries: 5 }));
  const [home, notes] = [join(root, "home"), join(root, "notes")];
  await cp(first, home, { recursive: true });
  await writeFile(notes, "");

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
    makeLast: () =>
      happens(() =>
        makeApprovedCall({ home, notes, token, isLate: false, reach: () => undefined, atTheEnd: assertOver }),
      ),
  };
}

async function assertOver(kernel: NarthexKernel): Promise<void> {
  assert.deepEqual(kernel.listApprovals().open, []);
  const { intact, complete } = await verifyLedger(kernel.ledgerSource());
  assert.deepEqual([intact, complete], [true, true]);
}

describe("a kernel killed around an approval", { concurrency: 2, timeout: 300_000 }, () => {
  let beginning: Beginning;
  before(async () => {
    beginning = await begin();
  });
  after(() => rm(beginning.root, { recursive: true, force: true, maxRetries: 5 }));

  for (const [place, finds] of KILLED_AT) {
    it(`at ${place}: one approval has one effect, and a decided request is not asked again`, async (context) => {
      const story = await createStory(context, beginning);
      const first = await story.killAt(place);
      const second = await story.make();
      const third = await story.makeLast();
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
    });
  }

  it("after an approval without a waiting caller: the call runs on it, once", async (context) => {
    const story = await createStory(context, beginning);
    assert.deepEqual(await story.killAt("yes given", "late"), ["asked", "answered APPROVAL_PENDING", "yes given"]);
    assert.deepEqual(await story.make(), ["effect", "answered success"]);
    assert.deepEqual(await story.makeLast(), ["answered success"]);
  });
});
