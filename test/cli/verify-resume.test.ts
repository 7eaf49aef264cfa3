import assert from "node:assert/strict";
import { chmod, cp, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, it } from "node:test";
import { type JsonObject, toHex } from "@narthex/contracts";
import { createKernel } from "narthex";
import { createTestHome, objectOf, objectsOf, type TestHome, textOf } from "./home.ts";
import { countRecords, extendHome, flipByte, rowsOf, updateRow } from "./tampered-home.ts";

describe("ledger verify --resume", { timeout: 240_000 }, () => {
  let at: TestHome;
  before(async () => {
    at = await createTestHome();
  });
  after(() => at.remove());

  const resume = (code = 0, ...options: readonly string[]): Promise<JsonObject> =>
    at.ask(["ledger", "verify", "--resume", ...options], code);
  const trusted = (report: JsonObject): unknown => objectOf(report["verified_before"] ?? {})["records"];
  const firstCode = (report: JsonObject): unknown => objectsOf(report["problems"])[0]?.["code"];
  const memoryFile = async (): Promise<string> => {
    const directory = join(at.root, ".local", "state", "narthex", "verified");
    const [name = "", ...others] = await readdir(directory);
    assert.deepEqual(others, []);
    return join(directory, name);
  };

  it("reads everything the first time, then only new records, across open sessions, and reports it", async () => {
    const kernel = await createKernel({ data: at.home });
    const session = await kernel.session({ workspace: at.workspace });
    const { hash } = await session.call("echo", "one");
    const { size } = await kernel.signCheckpoint();
    await kernel.close();
    const first = await resume();
    const count = await countRecords(at.home);
    assert.deepEqual([first["records"], first["verified_before"]], [count, undefined]);
    assert.equal((await stat(await memoryFile())).mode & 0o777, 0o600);

    const serving = await at.serve();
    await at.ask(["call", "echo", '"two"'], 0, { env: { NARTHEX_TOKEN: session.token } });
    await at.ask(["erase", toHex(hash ?? new Uint8Array(0)), "--reason", "asked", "--by", "ada"]);
    const served = await resume();
    assert.equal(trusted(served), count);
    assert.equal(objectOf(served["verified_before"])["checkpoint_size"], size);
    assert.ok(Number(served["records"]) > count && Number(served["erased_items"]) > 0);
    assert.equal("verified" in served, false);
    await serving.stop();

    const told = await at.run(["ledger", "verify", "--resume"]);
    assert.equal(told.code, 0, told.stdout);
    assert.match(told.stdout, /not read again +\d+ records that a run of .* read, with the checkpoint of \d+ records/);
    const whole = await at.ask(["ledger", "verify"]);
    assert.equal(whole["verified_before"], undefined);
    assert.equal(trusted(await resume()), whole["records"]);
  });

  it("finds a record changed since and a restored older ledger, and reads everything to locate it", async () => {
    await cp(at.home, join(at.root, "older"), { recursive: true });
    await extendHome(at.home, ["three"]);
    const { records } = await resume();
    await cp(at.home, join(at.root, "sound"), { recursive: true });

    await extendHome(at.home, ["four"]);
    const database = new DatabaseSync(join(at.home, "store", "records.db"));
    const row = rowsOf(database).at(-2);
    assert.ok(row !== undefined && row.idx >= Number(records));
    updateRow(database, row.idx, "record", flipByte(row.record, 20));
    database.close();
    const changed = await resume(20);
    assert.deepEqual([firstCode(changed), changed["verified_before"]], ["hash_mismatch", undefined]);
    assert.equal(objectsOf(changed["problems"])[0]?.["record_index"], row.idx);

    await rm(at.home, { recursive: true });
    await cp(join(at.root, "older"), at.home, { recursive: true });
    const back = await resume(20);
    assert.equal(firstCode(back), "log_rolled_back");
    assert.equal(objectsOf(back["problems"])[0]?.["record_index"], back["records"]);
    await rm(at.home, { recursive: true });
    await cp(join(at.root, "sound"), at.home, { recursive: true });
    assert.equal(trusted(await resume()), records);
  });

  it("finds that another ledger replaced the verified one", async () => {
    const foreign = join(at.root, "foreign");
    const words = Array.from({ length: 40 }, (_, i) => `word ${i}`);
    await extendHome(foreign, words);
    const report = await resume(20, "--memory", await memoryFile(), "--data", foreign);
    assert.equal(firstCode(report), "log_forked");
  });

  it("rejects a state file that is damaged, writable by others, or inside the home", async () => {
    const path = await memoryFile();
    const good = await readFile(path);
    await chmod(path, 0o622);
    assert.match(textOf(objectOf((await resume(4))["error"])["message"]), /others can write/);
    await chmod(path, 0o600);
    await writeFile(path, flipByte(good, good.length - 40));
    assert.match(textOf(objectOf((await resume(4))["error"])["message"]), /it is damaged/);
    await writeFile(path, good);
    await resume(2, "--memory", join(at.home, "log", "memory"));
    await at.ask(["ledger", "verify", "--memory", "elsewhere"], 2);
    await resume(2, "--records-only");
    const { records_only: isSaid, content_items: items } = await at.ask(["ledger", "verify", "--records-only"]);
    assert.deepEqual([isSaid, items], [true, 0]);
  });
});
