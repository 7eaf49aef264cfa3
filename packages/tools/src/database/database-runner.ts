import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";

/** The task that the program below reads as JSON from its standard input. */
export interface DatabaseTask {
  /**
   * `look` only reports which tables are read and written; `run` executes the statement with access to exactly these tables.
   */
  readonly phase: "look" | "run";
  readonly access: "read" | "write";
  /** The real working directory, and the name of the database in it. */
  readonly directory: string;
  readonly name: string;
  readonly sql: string;
  readonly params: readonly unknown[];
  readonly tables: TableUse;
  readonly maxRows: number;
  /** Whether more than `maxRows` rows are an error, which changes nothing; otherwise the first rows are returned. */
  readonly isStrict: boolean;
  readonly maxBytes: number;
}

export interface TableUse {
  readonly read: readonly string[];
  readonly write: readonly string[];
}

/** The reply that the program writes as JSON to its standard output. */
export type DatabaseReply =
  | { readonly tables: TableUse }
  | { readonly rows: readonly unknown[] }
  | { readonly problem: string; readonly message: string };

/**
 * The program that runs inside the sandbox of a query. Its source text is passed into the sandbox, so it can use only
 * what it loads from Node itself. It loads modules by name because a bundler rewrites imports.
 *
 * SECURITY: the database engine asks for authorization before each access; unknown actions are refused. No statement
 * can reach other databases, extensions or settings.
 */
export async function runDatabase(): Promise<void> {
  const { text } = process.getBuiltinModule("node:stream/consumers");
  const { lstatSync, readdirSync, readlinkSync } = process.getBuiltinModule("node:fs");
  const { constants, DatabaseSync: Database } = process.getBuiltinModule("node:sqlite");
  const task = JSON.parse(await text(process.stdin)) as DatabaseTask;
  const [allow, deny] = [constants.SQLITE_OK, constants.SQLITE_DENY];
  const used = { read: new Set<string>(), write: new Set<string>() };
  let forbidden = "";

  class Refusal extends Error {
    readonly problem: string;
    constructor(problem: string, message: string) {
      super(message);
      this.problem = problem;
    }
  }

  function refuse(why: string): number {
    forbidden ||= why;
    return deny;
  }

  function use(kind: "read" | "write", table: string): number {
    used[kind].add(table);
    if (task.phase === "look" || task.tables[kind].includes(table)) return allow;
    return refuse(`the ${kind === "read" ? "reading" : "writing"} of ${table}, which changed while it was decided on`);
  }

  /** Table-valued functions that store no data. */
  const computed = new Set(["json_each", "json_tree", "generate_series"]);
  const looking = new Set(["table_info", "table_xinfo", "index_list", "index_info", "index_xinfo", "foreign_key_list"]);
  const telling = new Set(["table_list", "user_version", "application_id", "schema_version", "page_count", "encoding"]);
  const schema = new Set(["sqlite_master", "sqlite_schema"]);
  let changesSchema = false;

  function pragma(name: string, argument: string | null): number {
    if (looking.has(name) && argument !== null) return use("read", argument);
    return telling.has(name) && argument === null ? allow : refuse(`PRAGMA ${name}`);
  }

  function touch(kind: "read" | "write", table: string, database: string | null): number {
    // Renaming something also searches this table for its name. It is always empty.
    if (changesSchema && /^sqlite_temp_(?:master|schema)$/u.test(table)) return allow;
    if (database !== null && database !== "main") return refuse(`the database ${database}`);
    if (kind === "read" && computed.has(table)) return allow;
    // Bookkeeping that the engine itself writes when tables are created or dropped.
    if (changesSchema && (schema.has(table) || table === "sqlite_sequence" || table.startsWith("sqlite_stat")))
      return allow;
    if (kind === "write" && schema.has(table)) return mayFollow(table);
    if (table === "dbstat" || table.startsWith("sqlite_db")) return refuse(`the table ${table}`);
    return use(kind, table);
  }

  /**
   * A statement that creates a table first announces that it writes the schema, and only then which table it creates.
   */
  let followed = "";
  function mayFollow(table: string): number {
    followed = table;
    return allow;
  }

  function define(table: string, database: string | null): number {
    if (database !== null && database !== "main") return refuse(`the database ${database}`);
    changesSchema = true;
    return schema.has(table) ? refuse(`the table ${table}`) : use("write", table);
  }

  function authorize(code: number, first: string | null, second: string | null, database: string | null): number {
    const [one, two] = [first ?? "", second ?? ""];
    switch (code) {
      case constants.SQLITE_SELECT:
      case constants.SQLITE_RECURSIVE:
        return allow;
      case constants.SQLITE_READ:
        // Counting rows reads a table without any of its columns. An empty name means no table.
        return one === "" ? allow : touch("read", one, database);
      case constants.SQLITE_FUNCTION:
        return /^(?:load_extension|fts3_tokenizer|edit|readfile|writefile)$/u.test(two) ? refuse(`${two}()`) : allow;
      case constants.SQLITE_PRAGMA:
        return pragma(one, second);
      case constants.SQLITE_INSERT:
      case constants.SQLITE_UPDATE:
      case constants.SQLITE_DELETE:
        return touch("write", one, database);
      case constants.SQLITE_CREATE_TABLE:
      case constants.SQLITE_DROP_TABLE:
      case constants.SQLITE_CREATE_VIEW:
      case constants.SQLITE_DROP_VIEW:
      case constants.SQLITE_ANALYZE:
        return define(one, database);
      case constants.SQLITE_CREATE_INDEX:
      case constants.SQLITE_DROP_INDEX:
      case constants.SQLITE_CREATE_TRIGGER:
      case constants.SQLITE_DROP_TRIGGER:
        return define(two, database);
      case constants.SQLITE_ALTER_TABLE:
        return define(two, one);
      case constants.SQLITE_REINDEX:
        return allow;
      case constants.SQLITE_ATTACH:
        return refuse("ATTACH and VACUUM");
      case constants.SQLITE_TRANSACTION:
      case constants.SQLITE_SAVEPOINT:
        return refuse("transactions: each query is one");
      default:
        return refuse(`a statement of this kind (${code})`);
    }
  }

  /** Checks that only this one database and the files beside it are open in the workspace. */
  function verifyOpened(): void {
    const path = `${task.directory}/${task.name}`;
    const own = new Set([path, `${path}-wal`, `${path}-shm`, `${path}-journal`]);
    for (const descriptor of readdirSync("/proc/self/fd")) {
      let opened = "";
      try {
        opened = readlinkSync(`/proc/self/fd/${descriptor}`);
      } catch {
        continue;
      }
      const real = opened.replace(/ \(deleted\)$/u, "");
      if (real.startsWith("/workspace/") && !own.has(real)) {
        throw new Refusal("PATH_ESCAPE", "the database became another file while it was opened; nothing was done");
      }
    }
  }

  function open(): DatabaseSync {
    if (process.cwd() !== task.directory) {
      throw new Refusal("PATH_ESCAPE", "the directory became another one while it was opened; nothing was done");
    }
    const found = lstatSync(task.name, { throwIfNoEntry: false });
    if (found === undefined && task.access === "read") throw new Refusal("FILE_NOT_FOUND", "there is no such database");
    if (found?.isSymbolicLink() === true)
      throw new Refusal("PATH_ESCAPE", "a database is not opened through a link; name it itself");
    if (found !== undefined && !found.isFile()) throw new Refusal("NOT_A_FILE", "it is not a file");
    const options = { readOnly: task.access === "read", timeout: 5000, allowExtension: false };
    const open = new Database(`./${task.name}`, options);
    try {
      open.prepare("SELECT count(*) FROM sqlite_schema").get();
      return open;
    } catch (fault) {
      open.close();
      const log = lstatSync(`${task.name}-wal`, { throwIfNoEntry: false });
      if (task.access === "write" || (log !== undefined && log.size > 0)) throw fault;
      // A database with a write-ahead log needs files beside it, which cannot be created in a read-only workspace.
      return new Database(
        new URL(
          `file://${encodeURI(`${task.directory}/${task.name}`).replaceAll(/[?#]/gu, encodeURIComponent)}?immutable=1`,
        ),
        options,
      );
    }
  }

  const blank = /^(?:[\s;]|--[^\n]*(?:\n|$)|\/\*[^]*?\*\/)*$/u;

  function prepareOne(database: DatabaseSync): StatementSync {
    if (blank.test(task.sql)) throw new Refusal("INVALID_INPUT", "there is no statement");
    const statement = database.prepare(task.sql);
    // The engine parses the first statement and ignores the rest.
    const rest = task.sql.slice(task.sql.indexOf(statement.sourceSQL) + statement.sourceSQL.length);
    if (blank.test(rest)) return statement;
    throw new Refusal("INVALID_INPUT", "one statement at a time: there is more behind the first one");
  }

  function toValue(value: unknown): SQLInputValue {
    if (typeof value === "boolean") return value ? 1n : 0n;
    if (typeof value === "object" && value !== null) {
      const { $base64: base64, $integer: integer } = value as { $base64?: unknown; $integer?: unknown };
      if (typeof base64 === "string") return Buffer.from(base64, "base64");
      if (typeof integer === "string" && /^-?\d{1,19}$/u.test(integer)) return BigInt(integer);
    }
    if (value === null || typeof value === "number" || typeof value === "string") {
      return typeof value === "number" && Number.isSafeInteger(value) ? BigInt(value) : value;
    }
    throw new Refusal("INVALID_INPUT", "a parameter is null, a number, a text, a boolean, $base64 or $integer");
  }

  function toJson(value: unknown): unknown {
    if (typeof value === "bigint")
      return Number.isSafeInteger(Number(value)) ? Number(value) : { $integer: String(value) };
    if (typeof value === "number") return Number.isFinite(value) ? value : { $real: String(value) };
    return value instanceof Uint8Array ? { $base64: Buffer.from(value).toString("base64") } : value;
  }

  function columnNames(statement: StatementSync): string[] {
    const names: string[] = [];
    for (const { name } of statement.columns()) {
      let free = name;
      for (let number = 2; names.includes(free); number++) free = `${name}_${number}`;
      names.push(free);
    }
    return names;
  }

  function query(statement: StatementSync): { rows: unknown[] } {
    const names = columnNames(statement);
    const params = task.params.map(toValue);
    statement.setReadBigInts(true);
    if (names.length === 0) {
      const { changes, lastInsertRowid } = statement.run(...params);
      return { rows: [{ changes: toJson(changes), last_insert_rowid: toJson(lastInsertRowid) }] };
    }
    statement.setReturnArrays(true);
    const rows: unknown[] = [];
    let bytes = 0;
    for (const values of statement.iterate(...params) as Iterable<unknown>) {
      if (rows.length >= task.maxRows) {
        if (!task.isStrict) return { rows };
        throw new Refusal("RESOURCE_EXCEEDED", `there are more than ${task.maxRows} rows; use LIMIT or max_rows`);
      }
      const row = Object.fromEntries((values as unknown[]).map((value, index) => [names[index] ?? "", toJson(value)]));
      bytes += JSON.stringify(row).length;
      if (bytes > task.maxBytes)
        throw new Refusal("RESOURCE_EXCEEDED", `the rows are more than ${task.maxBytes} bytes; ask for less`);
      rows.push(row);
    }
    return { rows };
  }

  function work(): DatabaseReply {
    const database = open();
    verifyOpened();
    const isWriting = task.access === "write" && task.phase === "run";
    if (isWriting) database.exec("BEGIN IMMEDIATE");
    database.setAuthorizer(authorize);
    const statement = prepareOne(database);
    if (followed !== "" && !changesSchema)
      throw new Refusal("INVALID_INPUT", `a query may not write the table ${followed}`);
    if (task.phase === "look") return { tables: { read: [...used.read].sort(), write: [...used.write].sort() } };
    const answer = query(statement);
    database.setAuthorizer(null);
    verifyOpened();
    if (isWriting) database.exec("COMMIT");
    database.close();
    return answer;
  }

  function reply(): DatabaseReply {
    try {
      return work();
    } catch (fault) {
      if (fault instanceof Refusal) return { problem: fault.problem, message: fault.message };
      const message = fault instanceof Error ? fault.message : String(fault);
      if (forbidden !== "") return { problem: "INVALID_INPUT", message: `a query may not use ${forbidden}` };
      const code = (fault as { errcode?: number }).errcode ?? 0;
      // SQLITE_ERROR, SQLITE_RANGE and SQLITE_MISMATCH mean that the statement is wrong; any other error is a fault of
      // the database.
      return { problem: [1, 20, 25].includes(code & 0xff) ? "INVALID_INPUT" : "EXECUTION_FAILED", message };
    }
  }

  process.stdout.write(JSON.stringify(reply()));
}
