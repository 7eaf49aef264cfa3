import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { after, before, describe, it } from "node:test";
import { blake3, utf8 } from "@narthex/contracts";
import { homePaths, openContentFiles, openLedgerStore } from "@narthex/host";
import { type VerifyReport, verifyLedger } from "@narthex/verify";
import { createKernel } from "narthex";
import { createStoreLedgerSource } from "../../packages/narthex/src/ledger-source.ts";
import { kernelProgram } from "../built/kernel-program.ts";
import { createTestHome, type TestHome } from "../cli/home.ts";
import { sampled } from "../sampled.ts";
import { findLeft } from "./left-bytes.ts";

const PROGRAM = new URL("./erasing-kernel.ts", import.meta.url);
/** From before the first write of an erasure to after its last. */
const DELAYS_MS = [0, 2, 4, 6, 8, 10, 12, 15, 18, 22, 26, 30, 35, 40, 50, 60, 80, 100, 150];

describe("an interrupted erasure", { timeout: 240_000 }, () => {
  let at: TestHome;
  before(async () => {
    at = await createTestHome();
  });
  after(() => at.remove());

  /** Kills the kernel so long after it began to erase. */
  async function killAfter(delayMs: number, secret: string): Promise<boolean> {
    const child = spawn(process.execPath, kernelProgram(PROGRAM, at.home, at.workspace, secret), {
      stdio: ["ignore", "pipe", "inherit"],
    });
    const lines = createInterface(child.stdout);
    let isErased = false;
    lines.on("line", (line) => {
      if (line === "stored") setTimeout(() => child.kill("SIGKILL"), delayMs);
      if (line === "erased") isErased = true;
    });
    await once(child, "exit");
    return isErased;
  }

  /** What an independent reader finds before any kernel has looked at the home. */
  async function verifyAsLeft(): Promise<VerifyReport> {
    const paths = homePaths(at.home);
    const store = await openLedgerStore({ paths, isSingleThreaded: true });
    try {
      return await verifyLedger(createStoreLedgerSource(store, await openContentFiles(paths.content), paths.merkle));
    } finally {
      await store.close();
    }
  }

  it("is either not started or completed at the next start, and the ledger is sound in between", async (t) => {
    let completed = 0;
    for (const delayMs of sampled(DELAYS_MS, 3)) {
      const secret = `never to be found again ${delayMs} ${crypto.randomUUID()}`;
      const wasErased = await killAfter(delayMs, secret);
      const { problems, erasedItems } = await verifyAsLeft();
      assert.deepEqual(problems, [], `after ${delayMs} ms`);
      const kernel = await createKernel({ data: at.home });
      const hash = blake3(utf8(JSON.stringify({ text: secret })));
      const isHeld = (await kernel.statContent(hash)) !== undefined;
      const needles = { secret, hash, hex: Buffer.from(hash).toString("hex") };
      if (wasErased) assert.ok(!isHeld, "what was said to be erased is");
      if (isHeld)
        await kernel.erase({
          hashes: [hash, blake3(utf8(`${secret} `.repeat(4000)))],
          sessionIds: [],
          reason: "again",
          by: "ada",
          dryRun: false,
        });
      else completed++;
      assert.deepEqual(await findLeft(at.home, needles), [], `after ${delayMs} ms`);
      await kernel.close();
      const report = await verifyAsLeft();
      assert.deepEqual(report.problems, []);
      assert.ok(report.erasedItems >= erasedItems);
    }
    t.diagnostic(`${completed} were completed`);
  });
});
