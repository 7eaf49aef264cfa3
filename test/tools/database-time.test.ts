import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import { codeOf, createFileKernel, type FileKernel } from "./file-kernel.ts";

/** Counts for ever, and keeps nothing. */
const ENDLESS = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n)";
/** Time for the two sandboxes of a query, and far less than the tool allows itself. */
const TIME_MS = 4000;

describe("an endless query", { timeout: 180_000 }, () => {
  let at: FileKernel;
  before(async () => {
    at = await createFileKernel({
      approver: { door: "test", ask: async () => ({ approved: true, approver: "ada" }) },
    });
    const database = new DatabaseSync(at.at("shop.db"));
    database.exec("CREATE TABLE items(id INTEGER PRIMARY KEY, name TEXT); INSERT INTO items VALUES (1, 'apple')");
    database.close();
    await at.own();
  });
  after(() => at[Symbol.asyncDispose]());

  const run = (sql: string, more: JsonObject = {}, timeoutMs = TIME_MS) =>
    at.session.call("db_query", { database: "shop.db", sql, ...more }, { timeoutMs });

  for (const [kind, sql] of [
    ["that reads", `${ENDLESS} SELECT count(*) FROM n`],
    ["that writes", `${ENDLESS} INSERT INTO items(name) SELECT 'x' FROM n WHERE i < 0`],
  ] as const) {
    it(`${kind} ends at its time-out, leaves the database unchanged, and the next query works`, async () => {
      const before = await readFile(at.at("shop.db"));
      const { response } = await run(sql);
      assert.equal(codeOf(response.result), "TIMEOUT");
      assert.ok(before.equals(await readFile(at.at("shop.db"))), "the file was changed");
      const { raw } = await run("SELECT id, name FROM items", {}, 60_000);
      assert.deepEqual(raw, [{ id: 1, name: "apple" }]);
      const written = await run("INSERT INTO items(id, name) VALUES (2, 'pear')", {}, 60_000);
      assert.equal(written.status, "success", "a lock was left behind");
      assert.equal((await run("DELETE FROM items WHERE id = 2", {}, 60_000)).status, "success");
    });
  }
});
