import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { after, before, describe, it } from "node:test";
import { kernelProgram } from "../built/kernel-program.ts";
import { createTestHome, ended, objectOf, objectsOf, type TestHome } from "./home.ts";

const CRASHING = new URL("./crashing-kernel.ts", import.meta.url);

describe("journal after a crash in the middle of an effect", { timeout: 60_000 }, () => {
  let at: TestHome;
  let sessionId: string;
  before(async () => {
    at = await createTestHome();
    const words = kernelProgram(CRASHING, at.home, at.workspace);
    const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
    let said = "";
    for await (const chunk of child.stdout) {
      said += chunk;
      if (said.includes("running\n")) child.kill("SIGKILL");
    }
    await ended(child);
    sessionId = said.split("\n")[0] ?? "";
  });
  after(() => at.remove());

  it("lists the call, takes one answer, and writes who gave it into the ledger", async () => {
    const [intent, ...others] = objectsOf((await at.ask(["journal"]))["intents"]);
    assert.deepEqual(others, []);
    assert.deepEqual(
      [intent?.["session_id"], intent?.["request_id"], intent?.["state"]],
      [sessionId, "risky", "unknown"],
    );
    const settled = await at.ask(["journal", "settle", sessionId, "risky", "--did-not-happen", "--by", "ada"]);
    assert.equal(settled["answer"], "did_not_happen");
    const record = await at.ask(["ledger", "show", JSON.stringify(settled["record_index"])]);
    const entries = objectsOf(record["entries"]).map((entry) => objectOf(entry["outcome_settled"]));
    assert.deepEqual([entries[0]?.["answer"], entries[0]?.["by"]], ["did_not_happen", "ada"]);
    assert.deepEqual((await at.ask(["journal"]))["intents"], []);
    const again = await at.ask(["journal", "settle", sessionId, "risky", "--happened", "--by", "eve"], 1);
    assert.equal(objectOf(again["error"])["code"], "INTENT_NOT_FOUND");
    assert.equal((await at.ask(["ledger", "verify"]))["intact"], true);
  });
});
