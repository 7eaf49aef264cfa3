import assert from "node:assert/strict";
import { readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, it } from "node:test";
import { createTestHome, ended, objectsOf, type TestHome } from "./home.ts";

describe("ledger verify on a damaged home", { timeout: 60_000 }, () => {
  let at: TestHome;
  let records: string;
  before(async () => {
    at = await createTestHome();
    const { id } = await at.openSession();
    await at.ask(["call", "echo", '{"text":"one"}', "--session", id]);
    await at.ask(["call", "echo", '{"text":"two"}', "--session", id]);
    records = join(at.home, "store", "records.db");
  });
  after(() => at.remove());

  it("does not create a missing ledger", async () => {
    const missing = join(at.root, "elsewhere");
    const { code, stderr } = await at.run(["ledger", "verify", "--data", missing]);
    assert.equal(code, 30, stderr);
    await assert.rejects(readFile(missing), { code: "ENOENT" });
  });

  it("names the first bad record after an edit, with 20", async () => {
    const database = new DatabaseSync(records);
    const row = database.prepare("SELECT record FROM records WHERE idx = 3").get();
    const changed = Buffer.from(row?.["record"] instanceof Uint8Array ? row["record"] : []);
    changed[changed.length - 3] = (changed[changed.length - 3] ?? 0) ^ 1;
    database.prepare("UPDATE records SET record = ? WHERE idx = 3").run(changed);
    database.close();
    const report = await at.ask(["ledger", "verify"], 20);
    assert.equal(report["intact"], false);
    assert.equal(objectsOf(report["problems"])[0]?.["record_index"], 3);
    const told = await at.run(["ledger", "verify"]);
    assert.equal(told.code, 20);
    assert.match(told.stdout, /first bad record: 3\n/);
  });

  it("ends with 20 even if its output is not read, or only its first line", async () => {
    for (const args of [
      ["ledger", "verify"],
      ["ledger", "verify", "--json"],
    ]) {
      const unread = at.start(args);
      unread.stdout.destroy();
      assert.equal(await ended(unread), 20, args.join(" "));
      const begun = at.start(args);
      begun.stdout.once("data", () => begun.stdout.destroy());
      assert.equal(await ended(begun), 20, args.join(" "));
    }
    const missing = at.start(["ledger", "verify", "--data", join(at.root, "elsewhere")]);
    for (const stream of [missing.stdout, missing.stderr]) stream.destroy();
    assert.equal(await ended(missing), 30);
  });

  it("names the first missing record after a removal, with 20", async () => {
    const database = new DatabaseSync(records);
    database.exec("DELETE FROM records WHERE idx = 1");
    database.close();
    const report = await at.ask(["ledger", "verify"], 20);
    assert.equal(report["complete"], false);
    assert.equal(objectsOf(report["problems"])[0]?.["record_index"], 1);
  });

  it("reports a file that is not a store as unreadable, with 30", async () => {
    await writeFile(records, "this is no store at all, and long enough to look at. ".repeat(20));
    const { code, stdout } = await at.run(["ledger", "verify", "--json"]);
    assert.equal(code, 30, stdout);
    assert.match(stdout, /LEDGER_UNREADABLE/);
  });
});
