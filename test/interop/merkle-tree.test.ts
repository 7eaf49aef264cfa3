import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { createKernel } from "narthex";
import { createTestHome, type TestHome } from "../cli/home.ts";
import {
  createSignedHome,
  flipByte,
  removeTampered,
  rewriteChain,
  rowsOf,
  type SignedHome,
  tamper,
  updateRow,
} from "../cli/tampered-home.ts";

const SCRIPT = fileURLToPath(new URL("verify_log.py", import.meta.url));
/** Debian's: another interpreter on the path may lack the packages. */
const PYTHON = "/usr/bin/python3";

/** What the verifier in Python says: what it counted, or why it refuses. */
async function ask(
  ...words: readonly string[]
): Promise<{ readonly ok?: Record<string, number>; readonly refused?: string }> {
  const finished = promisify(execFile)(PYTHON, ["-B", SCRIPT, ...words]);
  const { stdout } = await finished.catch((fault: unknown) => fault as { readonly stdout: string });
  return JSON.parse(stdout) as { readonly ok?: Record<string, number>; readonly refused?: string };
}

describe("a verifier in Python that shares no code with ours", { timeout: 120_000 }, () => {
  let at: TestHome;
  let home: SignedHome;
  let inclusion: string;
  let consistency: string;
  let rotated: string;
  before(async () => {
    at = await createTestHome();
    home = await createSignedHome(at.root, "home");
    inclusion = (await at.run(["ledger", "prove", "5", "--data", home.path])).stdout;
    consistency = (await at.run(["ledger", "prove", "--from", home.early, "--data", home.path])).stdout;
    const kernel = await createKernel({ data: home.path });
    rotated = (await kernel.rotateLogKey()).announced.key.text;
    await kernel.close();
  });
  after(() => at.remove());

  const file = async (text: string): Promise<string> => {
    const path = join(at.root, "proof");
    await writeFile(path, text);
    return path;
  };

  it("recomputes every hash, root, signature, handover and tile of a home", async () => {
    const { ok } = await ask("home", home.path, home.verifierKey);
    assert.ok(ok !== undefined && Number(ok["records"]) > home.records && Number(ok["tiles"]) > 0);
    assert.ok(Number(ok["checkpoints"]) >= 4);
    assert.ok((await ask("home", home.path, rotated)).ok !== undefined);
    assert.match((await ask("home", home.path, "narthex/x+00000000+AAAA")).refused ?? "", /trusted key/);
  });

  it("rejects a home with a flipped record, or with a chain rewritten with all of its hashes", async () => {
    const flipped = await tamper(home.path, (records) => {
      const row = rowsOf(records)[4];
      assert.ok(row !== undefined);
      updateRow(records, 4, "record", flipByte(row.record, row.record.length - 2));
    });
    assert.match((await ask("home", flipped)).refused ?? "", /record 4 does not have its hash/);
    const rewritten = await tamper(home.path, (records) => rewriteChain(records, 4));
    assert.match((await ask("home", rewritten)).refused ?? "", /do not give the root/);
    await Promise.all([flipped, rewritten].map(removeTampered));
  });

  it("verifies an inclusion proof with the key alone, and rejects a changed one", async () => {
    assert.equal((await ask("inclusion", await file(inclusion), home.verifierKey)).ok?.["index"], 5);
    const lines = inclusion.split("\n");
    const changed = lines.with(1, `extra ${Buffer.from("another record").toString("base64")}`).join("\n");
    assert.ok((await ask("inclusion", await file(changed), home.verifierKey)).refused !== undefined);
    const shorter = lines.toSpliced(3, 1).join("\n");
    assert.ok((await ask("inclusion", await file(shorter), home.verifierKey)).refused !== undefined);
    assert.match((await ask("inclusion", await file(inclusion), rotated)).refused ?? "", /no signature by the key/);
  });

  it("verifies a consistency proof with the key alone, and rejects a changed one", async () => {
    const { ok } = await ask("consistency", await file(consistency), home.verifierKey);
    assert.ok(ok !== undefined && Number(ok["from"]) < Number(ok["to"]));
    const shorter = consistency.split("\n").toSpliced(1, 1).join("\n");
    assert.ok((await ask("consistency", await file(shorter), home.verifierKey)).refused !== undefined);
  });
});
