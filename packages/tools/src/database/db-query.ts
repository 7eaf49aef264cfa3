import { isJsonObject, type JsonObject, type JsonValue, KernelError } from "@narthex/contracts";
import { BUNDLED_PATHS, type Capability, defineTool, type ToolContext } from "@narthex/kernel";
import { pathSchema } from "../files/path-schema.ts";
import { absolutePath, workspacePath } from "../files/workspace-path.ts";
import { exceededError } from "../programs/program-output.ts";
import { type DatabaseTask, runDatabase, type TableUse } from "./database-runner.ts";
import { statementKind } from "./statement-kind.ts";

const DEFAULT_ROWS = 1000;
const MAX_ROWS = 100_000;
const MAX_BYTES = 8 * 1024 * 1024;
const TIMEOUT_MS = 60_000;
/** Total for both program runs. It is less than the tool's timeout, so that the programs time out first. */
const QUERY_MS = 40_000;
const MB = 1024 * 1024;
const PROGRAM_PATH = "/opt/narthex/query-database.mjs";
const NO_TABLES: TableUse = { read: [], write: [] };

/** Runs SQL on an SQLite database of the workspace, one statement per call. */
export const dbQuery = defineTool({
  name: "db_query",
  description:
    "Runs one SQL statement on an SQLite file and answers its rows. Values go into params. Blobs are {$base64}, integers " +
    "too large for JSON {$integer}.",
  source: "builtin",
  isolation: "process",
  inputSchema: {
    type: "object",
    properties: {
      database: pathSchema("Path of the file."),
      sql: {
        type: "string",
        minLength: 1,
        maxLength: 100_000,
        description: "With ? for each parameter.",
      },
      params: { type: "array", items: {}, maxItems: 1000, description: "Values of the parameters, in order." },
      max_rows: {
        type: "integer",
        minimum: 1,
        maximum: MAX_ROWS,
        description: `Answer only the first rows. Without it, more than ${DEFAULT_ROWS} rows are an error.`,
      },
    },
    required: ["database", "sql"],
    additionalProperties: false,
  },
  resultType: "array",
  effects: ["fs_read", "fs_write", "db_read", "db_write"],
  determinism: "deterministic",
  tier: "side_effecting",
  capabilities: [
    { kind: "fs_read", prefixes: [] },
    { kind: "fs_write", prefixes: [] },
    { kind: "db_read", names: [] },
    { kind: "db_write", names: [] },
  ],
  bounds: { timeoutMs: TIMEOUT_MS },
  needsAnyOf: ["db_read", "db_write"],
  narrow: ({ sql }) => (statementKind(sql) === "read" ? { effects: ["fs_read", "db_read"], tier: "read_only" } : {}),
  actions: ["db_query_read", "db_query_write"],
  action: ({ sql }) => (statementKind(sql) === "read" ? "db_query_read" : "db_query_write"),
  needs({ database, sql }, session): Capability[] {
    const prefixes = [absolutePath(database, session)];
    const reading: Capability = { kind: "fs_read", prefixes };
    return statementKind(sql) === "read" ? [reading] : [reading, { kind: "fs_write", prefixes }];
  },
  changesByPrograms: true,
  async run(input, context) {
    const { directory, name } = await locate(input.database, context);
    const task: DatabaseTask = {
      phase: "look",
      access: statementKind(input.sql),
      directory: directory === "." ? "/workspace" : `/workspace/${directory}`,
      name,
      sql: input.sql,
      params: input.params ?? [],
      tables: NO_TABLES,
      maxRows: input.max_rows ?? DEFAULT_ROWS,
      isStrict: input.max_rows === undefined,
      maxBytes: MAX_BYTES,
    };
    const tables = tablesOf(await ask(task, directory, context));
    // SECURITY: the engine has reported which tables the statement uses. Nothing has been executed yet, and the second
    // run can access only these tables.
    context.decide(capabilitiesFor(tables));
    context.files.noteReading(directory === "." ? name : `${directory}/${name}`);
    return rowsOf(await ask({ ...task, phase: "run", tables }, directory, context));
  },
});

/** SECURITY: a lease grants names, and a linked file has two names. */
async function locate(
  database: string,
  { files, session }: ToolContext,
): Promise<{ readonly directory: string; readonly name: string }> {
  const named = workspacePath(database, session);
  const slash = named.lastIndexOf("/");
  const [parent, name] = slash === -1 ? [".", named] : [named.slice(0, slash), named.slice(slash + 1)];
  if (named === ".") throw new KernelError("NOT_A_FILE", "a directory is not a database");
  const directory = await files.locateDirectory(parent);
  if (directory === parent) return { directory, name };
  throw new KernelError("PATH_ESCAPE", "a database is not opened through a link; name it by its own path");
}

function capabilitiesFor({ read, write }: TableUse): Capability[] {
  return [
    ...(read.length > 0 ? [{ kind: "db_read", names: read } as const] : []),
    ...(write.length > 0 ? [{ kind: "db_write", names: write } as const] : []),
  ];
}

async function ask(task: DatabaseTask, directory: string, { programs }: ToolContext): Promise<JsonObject> {
  const chunks: Uint8Array[] = [];
  const result = await programs.run({
    bundled: ["node"],
    contents: [
      { target: PROGRAM_PATH, bytes: Buffer.from(`await (${runDatabase.toString()})();\n`), isExecutable: false },
    ],
    command: [BUNDLED_PATHS.node, "--disable-warning=ExperimentalWarning", PROGRAM_PATH],
    workingDirectory: directory,
    // Inspecting a statement that reads needs no write access, but a database that does not exist yet must be created.
    ...(task.access === "read" && { access: "read" }),
    input: Buffer.from(JSON.stringify(task)),
    limits: { memoryBytes: 1024 * MB },
    timeoutMs: QUERY_MS / 2,
    maxOutputBytes: 4 * MAX_BYTES,
    kept: [],
    isShown: false,
    onPrinted: (stream, chunk) => void (stream === "stdout" && chunks.push(Buffer.from(chunk))),
  });
  if (result.exceeded !== undefined) throw exceededError(result.exceeded);
  const reply = parseReply(Buffer.concat(chunks).toString());
  const { problem, message } = reply;
  if (typeof problem === "string")
    throw new KernelError(codeFor(problem), (typeof message === "string" ? message : "").slice(0, 2000));
  return reply;
}

function parseReply(text: string): JsonObject {
  try {
    const reply = JSON.parse(text) as JsonValue;
    if (isJsonObject(reply)) return reply;
  } catch {
    // Reported below.
  }
  throw new KernelError("EXECUTION_FAILED", "the query ended without an answer");
}

const CODES = ["INVALID_INPUT", "FILE_NOT_FOUND", "NOT_A_FILE", "PATH_ESCAPE", "RESOURCE_EXCEEDED"] as const;

function codeFor(problem: string): (typeof CODES)[number] | "EXECUTION_FAILED" {
  return CODES.find((code) => code === problem) ?? "EXECUTION_FAILED";
}

function tablesOf({ tables }: JsonObject): TableUse {
  if (!isJsonObject(tables))
    throw new KernelError("EXECUTION_FAILED", "the engine did not say what the query is about");
  return { read: namesOf(tables["read"]), write: namesOf(tables["write"]) };
}

function namesOf(value: JsonValue | undefined): string[] {
  if (!Array.isArray(value)) return [];
  return value.filter((name) => typeof name === "string");
}

function rowsOf({ rows }: JsonObject): JsonValue[] {
  if (!Array.isArray(rows)) throw new KernelError("EXECUTION_FAILED", "the query ended without rows");
  return rows;
}
