import assert from "node:assert/strict";
import { chmod, mkdir, readdir, symlink, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, describe, it } from "node:test";
import type { JsonObject, JsonValue } from "@narthex/contracts";
import { codeOf, createFileKernel, type FileKernel } from "./file-kernel.ts";

describe("db_query through a kernel", { timeout: 180_000 }, () => {
  let at: FileKernel;
  let asked: string[] = [];
  let isApproved = true;
  before(async () => {
    at = await createFileKernel({
      approver: {
        door: "test",
        async ask({ tool }) {
          asked.push(tool);
          return { approved: isApproved, approver: "ada" };
        },
      },
    });
    await make("shop.db", (database) => {
      database.exec(`
        CREATE TABLE items(id INTEGER PRIMARY KEY, name TEXT, price REAL, picture BLOB);
        CREATE TABLE secrets(word TEXT);
        CREATE VIEW cheap AS SELECT name FROM items WHERE price < 5;
        CREATE TABLE log(what TEXT);
        CREATE TABLE owners(id INTEGER PRIMARY KEY);
        CREATE TABLE owned(owner REFERENCES owners(id) ON DELETE CASCADE);
        CREATE TRIGGER noted AFTER INSERT ON items BEGIN INSERT INTO log VALUES (new.name); END;
        INSERT INTO items VALUES (1, 'apple', 1.5, x'00ff'), (2, 'pear', 9.25, NULL);
        DELETE FROM log;
        INSERT INTO secrets VALUES ('hunter2');
      `);
    });
  });
  after(() => at[Symbol.asyncDispose]());

  async function make(name: string, fill: (database: DatabaseSync) => void): Promise<void> {
    const database = new DatabaseSync(at.at(name));
    fill(database);
    database.close();
    await at.own();
  }

  const query = (sql: string, more: JsonObject = {}): Promise<JsonValue> =>
    at.ask("db_query", { database: "shop.db", sql, ...more });
  const refused = (sql: string, more: JsonObject = {}): Promise<string> =>
    at.refused("db_query", { database: "shop.db", sql, ...more });
  const inFile = (sql: string, name = "shop.db"): unknown[] => {
    const database = new DatabaseSync(at.at(name), { readOnly: true });
    try {
      return database
        .prepare(sql)
        .all()
        .map((row) => ({ ...row }));
    } finally {
      database.close();
    }
  };

  it("returns rows: numbers, texts, nulls, blobs as base64, integers that JSON cannot hold, repeated column names", async () => {
    assert.deepEqual(await query("SELECT * FROM items ORDER BY id"), [
      { id: 1, name: "apple", picture: { $base64: "AP8=" }, price: 1.5 },
      { id: 2, name: "pear", picture: null, price: 9.25 },
    ]);
    assert.deepEqual(await query("SELECT 9007199254740993 AS big, 1 AS a, 2 AS a, 9e999 AS endless"), [
      { a: 1, a_2: 2, big: { $integer: "9007199254740993" }, endless: { $real: "Infinity" } },
    ]);
    assert.deepEqual(await query("SELECT name FROM cheap"), [{ name: "apple" }]);
  });

  it("takes values as parameters, whose text is never SQL", async () => {
    const sql = "SELECT id FROM items WHERE name = ? OR id = ?";
    assert.deepEqual(await query(sql, { params: ["apple", 2] }), [{ id: 1 }, { id: 2 }]);
    assert.deepEqual(await query(sql, { params: ["' OR 1=1 --", null] }), []);
    assert.deepEqual(
      await query("SELECT ? AS a, ? AS b, typeof(?) AS c", {
        params: [{ $base64: "AP8=" }, { $integer: "9007199254740993" }, true],
      }),
      [{ a: { $base64: "AP8=" }, b: { $integer: "9007199254740993" }, c: "integer" }],
    );
    assert.equal(await refused("SELECT 1", { params: [1] }), "INVALID_INPUT");
    assert.equal(await refused("SELECT ?", { params: [[1]] }), "INVALID_INPUT");
  });

  it("reads without approval and cannot write; a write needs approval, is one transaction, and reports its changes", async () => {
    asked = [];
    await query("SELECT 1");
    assert.deepEqual(asked, []);
    assert.deepEqual(await query("INSERT INTO items(name, price) VALUES (?, 3)", { params: ["plum"] }), [
      { changes: 1, last_insert_rowid: 3 },
    ]);
    assert.deepEqual(asked, ["db_query@1.0.0"]);
    assert.deepEqual(inFile("SELECT what FROM log"), [{ what: "plum" }], "triggers run");
    assert.deepEqual(await query("WITH gone AS (SELECT 3 AS id) DELETE FROM items WHERE id IN gone RETURNING name"), [
      { name: "plum" },
    ]);
    assert.deepEqual(await query("CREATE TABLE made(a UNIQUE)"), [{ changes: 0, last_insert_rowid: 0 }]);
    for (const sql of [
      "ALTER TABLE made ADD COLUMN b",
      "CREATE INDEX by_b ON made(b)",
      "ALTER TABLE made RENAME COLUMN b TO c",
      "ALTER TABLE made RENAME TO kept",
      "DROP INDEX by_b",
      "ANALYZE kept",
      "REINDEX kept",
      "DROP TABLE kept",
      "CREATE TABLE made(a INTEGER PRIMARY KEY AUTOINCREMENT, b UNIQUE)",
    ]) {
      await query(sql);
    }
    assert.equal(await refused("INSERT INTO made(b) VALUES (1), (2), (1)"), "EXECUTION_FAILED");
    assert.deepEqual(inFile("SELECT * FROM made"), []);
    assert.deepEqual(await readdir(at.workspace), ["shop.db"], "no journal is left behind");
  });

  it("refuses a write disguised as a read, and does not run a write without approval", async () => {
    isApproved = false;
    for (const [sql, code] of [
      ["/* SELECT */ INSERT INTO items(name) VALUES ('x') -- SELECT", "APPROVAL_DENIED"],
      ["WITH a AS (SELECT 1) INSERT INTO items(name) SELECT 'x'", "APPROVAL_DENIED"],
      ["EXPLAIN INSERT INTO sqlite_schema VALUES (1, 2, 3, 4, 5)", "INVALID_INPUT"],
      ["PRAGMA user_version = 7", "INVALID_INPUT"],
      ["PRAGMA journal_mode = DELETE", "INVALID_INPUT"],
      ["PRAGMA writable_schema = ON", "INVALID_INPUT"],
      ["SELECT writefile('x', 'y')", "INVALID_INPUT"],
      ["SELECT load_extension('x')", "INVALID_INPUT"],
    ] as const) {
      assert.equal(await refused(sql), code, sql);
    }
    isApproved = true;
    assert.deepEqual(inFile("PRAGMA user_version"), [{ user_version: 0 }]);
    assert.deepEqual(inFile("SELECT count(*) AS n FROM items"), [{ n: 2 }]);
    assert.deepEqual(await readdir(at.workspace), ["shop.db"]);
  });

  it("allows one statement only, no other database, no extension, no setting, no transaction of its own", async () => {
    for (const sql of [
      "SELECT 1; SELECT 2",
      "SELECT 1; DROP TABLE items",
      "INSERT INTO log VALUES ('x'); DELETE FROM items",
      "ATTACH 'other.db' AS other",
      "DETACH main",
      "VACUUM",
      "VACUUM INTO 'copy.db'",
      "BEGIN",
      "SAVEPOINT a",
      "PRAGMA journal_mode = WAL",
      "PRAGMA temp_store_directory = '/tmp'",
      "PRAGMA database_list",
      "CREATE TEMP TABLE t(a)",
      "CREATE VIRTUAL TABLE t USING fts5(a)",
      "INSERT INTO sqlite_master VALUES ('table', 'x', 'x', 2, 'CREATE TABLE x(a)')",
      "UPDATE sqlite_schema SET sql = ''",
      "DELETE FROM sqlite_schema",
      "SELECT fts3_tokenizer('simple')",
      "nonsense",
      "",
      "-- nothing",
    ]) {
      assert.equal(await refused(sql), "INVALID_INPUT", sql);
    }
    assert.deepEqual(await query("SELECT 1 AS one; -- and no more\n /* at all */ ;"), [{ one: 1 }]);
    assert.deepEqual(await query("PRAGMA user_version"), [{ user_version: 0 }]);
    assert.equal((await readdir(at.workspace)).filter((name) => name !== "shop.db").length, 0);
    assert.deepEqual(inFile("SELECT count(*) AS n FROM items"), [{ n: 2 }]);
  });

  it("reaches only the tables of the lease, also by views, joins, subqueries, triggers and the schema", async () => {
    const session = await at.kernel.session({
      workspace: at.workspace,
      lease: {
        tool_patterns: ["db_query"],
        capabilities: [
          { kind: "fs_read", prefixes: [at.workspace] },
          { kind: "fs_write", prefixes: [at.workspace] },
          { kind: "db_read", names: ["items", "cheap", "log", "owners"] },
          { kind: "db_write", names: ["items", "owners"] },
        ],
      },
    });
    const codeFor = async (sql: string): Promise<string> => {
      const { status, response } = await session.call("db_query", { database: "shop.db", sql });
      return status === "success" ? "success" : codeOf(response.result);
    };
    for (const sql of [
      "SELECT name FROM items",
      "SELECT * FROM cheap",
      "SELECT count(*) FROM items",
      "UPDATE items SET price = price",
      "SELECT value FROM json_each('[1]')",
      "PRAGMA table_info(items)",
    ]) {
      assert.equal(await codeFor(sql), "success", sql);
    }
    for (const sql of [
      "SELECT * FROM secrets",
      "SELECT count(*) FROM secrets",
      "SELECT * FROM SECRETS",
      'SELECT * FROM main."secrets"',
      "SELECT name FROM items WHERE EXISTS (SELECT 1 FROM secrets)",
      "SELECT name FROM items UNION SELECT word FROM secrets",
      "WITH s AS (SELECT * FROM secrets) SELECT * FROM s",
      "SELECT sql FROM sqlite_schema",
      "PRAGMA table_info(secrets)",
      "INSERT INTO items(name) VALUES ('noted in log')",
      "INSERT INTO items(name) SELECT word FROM secrets",
      "DELETE FROM log",
      "DELETE FROM owners",
      "DROP TABLE secrets",
      "ALTER TABLE secrets RENAME TO open",
      "CREATE VIEW peek AS SELECT * FROM secrets",
      "CREATE TABLE other(a)",
      "CREATE TRIGGER t AFTER UPDATE ON secrets BEGIN SELECT 1; END",
    ]) {
      assert.equal(await codeFor(sql), "CAPABILITY_MISSING", sql);
    }
    assert.deepEqual(inFile("SELECT word FROM secrets"), [{ word: "hunter2" }]);
    assert.deepEqual(inFile("SELECT count(*) AS n FROM items"), [{ n: 2 }]);
  });

  it("a read-only lease is enough to read", async () => {
    const session = await at.kernel.session({
      workspace: at.workspace,
      lease: {
        tool_patterns: ["db_query"],
        highest_tier: "read_only",
        capabilities: [
          { kind: "fs_read", prefixes: [at.workspace] },
          { kind: "db_read", names: ["items"] },
        ],
      },
    });
    const read = await session.call("db_query", { database: "shop.db", sql: "SELECT id FROM items" });
    assert.equal(read.status, "success");
    const written = await session.call("db_query", { database: "shop.db", sql: "DELETE FROM items" });
    assert.match(codeOf(written.response.result), /^(?:CAPABILITY_MISSING|TIER_NOT_ALLOWED)$/);
  });

  it("rows, bytes and time are limited, and a write with too large a response is not done", async () => {
    const count = "WITH RECURSIVE n(i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n LIMIT 1001) SELECT i FROM n";
    assert.equal(await refused(count), "RESOURCE_EXCEEDED");
    assert.equal(((await query(count, { max_rows: 3 })) as JsonValue[]).length, 3);
    assert.equal(((await query(count, { max_rows: 2000 })) as JsonValue[]).length, 1001);
    assert.equal(await refused("SELECT zeroblob(20000000)"), "RESOURCE_EXCEEDED");
    await query("CREATE TABLE many(a)");
    const fill = count.replace("SELECT i FROM n", "INSERT INTO many SELECT i FROM n RETURNING a");
    assert.equal(await refused(fill), "RESOURCE_EXCEEDED");
    assert.deepEqual(inFile("SELECT count(*) AS n FROM many"), [{ n: 0 }]);
  });

  it("reads a database with a write-ahead log, whether or not another process has it open", async () => {
    const open = new DatabaseSync(at.at("wal.db"));
    open.exec("PRAGMA journal_mode = WAL; CREATE TABLE t(a); INSERT INTO t VALUES (1)");
    await at.own();
    const sql = "SELECT a FROM t";
    assert.deepEqual(await at.ask("db_query", { database: "wal.db", sql }), [{ a: 1 }]);
    open.close();
    assert.deepEqual(await at.ask("db_query", { database: "wal.db", sql }), [{ a: 1 }]);
    await at.ask("db_query", { database: "wal.db", sql: "INSERT INTO t VALUES (2)" });
    assert.deepEqual(await at.ask("db_query", { database: "wal.db", sql: "SELECT count(*) AS n FROM t" }), [{ n: 2 }]);
  });

  it("opens no link, nothing outside and no file that is not a database", async () => {
    await mkdir(join(at.root, "away"));
    const outside = new DatabaseSync(join(at.root, "away/out.db"));
    outside.exec("CREATE TABLE t(a); INSERT INTO t VALUES ('outside')");
    outside.close();
    await chmod(join(at.root, "away/out.db"), 0o666);
    await chmod(join(at.root, "away"), 0o777);
    await symlink(join(at.root, "away/out.db"), at.at("link.db"));
    await symlink(join(at.root, "away"), at.at("away"));
    await symlink("shop.db", at.at("inside.db"));
    await writeFile(at.at("text.db"), "this is no database, and long enough to look at".repeat(100));
    await mkdir(at.at("directory.db"));
    await at.own();
    for (const [database, code] of [
      ["link.db", "PATH_ESCAPE"],
      ["away/out.db", "PATH_ESCAPE"],
      ["inside.db", "PATH_ESCAPE"],
      ["../away/out.db", "INVALID_INPUT"],
      [join(at.root, "away/out.db"), "PATH_ESCAPE"],
      [":memory:", "FILE_NOT_FOUND"],
      ["file:shop.db?mode=rwc", "FILE_NOT_FOUND"],
      ["absent.db", "FILE_NOT_FOUND"],
      ["directory.db", "NOT_A_FILE"],
      ["text.db", "EXECUTION_FAILED"],
      [".", "NOT_A_FILE"],
    ] as const) {
      const session = await at.kernel.session({ workspace: at.workspace });
      const { response } = await session.call("db_query", { database, sql: "SELECT * FROM t" });
      assert.equal(codeOf(response.result), code, database);
    }
    for (const database of ["link.db", "away/out.db", "away/new.db"]) {
      const session = await at.kernel.session({ workspace: at.workspace });
      const { response } = await session.call("db_query", { database, sql: "CREATE TABLE x(a)" });
      assert.equal(codeOf(response.result), "PATH_ESCAPE", database);
    }
    assert.deepEqual(await readdir(join(at.root, "away")), ["out.db"]);
  });

  it("creates a new database for a statement that writes one, owned by the workspace's owner", async () => {
    await at.ask("db_query", { database: "new.db", sql: "CREATE TABLE t(a)" });
    assert.deepEqual(inFile("SELECT name FROM sqlite_schema", "new.db"), [{ name: "t" }]);
    assert.equal(await at.refused("db_query", { database: ".git/x.db", sql: "CREATE TABLE t(a)" }), "NO_MATCHING_RULE");
  });
});
