import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import {
  fromBinary,
  type JsonObject,
  MAX_ARG_LEN,
  MAX_COMMAND_LEN,
  MAX_EDIT_SIZE,
  MAX_PATH_LEN,
  MAX_READ_LIMIT,
  MAX_TIMEOUT_MS,
  RecordSchema,
  type ToolResponse,
} from "@narthex/contracts";
import { createFileKernel, type FileKernel } from "../tools/file-kernel.ts";

type Sent = Parameters<FileKernel["send"]>[0];

/** One call that breaks a limit, in both forms. */
interface Broken {
  readonly typed: Sent;
  readonly tool: string;
  readonly input: JsonObject;
  readonly rules: readonly string[];
}

const fileRead = (value: { path: string; limit?: bigint }, rules: readonly string[]): Broken => ({
  typed: { case: "fileRead", value },
  tool: "file_read",
  input: { path: value.path, ...(value.limit !== undefined && { limit: Number(value.limit) }) },
  rules,
});
const shellExec = (
  value: { command?: string; cwd?: string; timeoutMs?: bigint },
  rules: readonly string[],
): Broken => ({
  typed: { case: "shellExec", value: { command: "true", ...value } },
  tool: "shell_exec",
  input: {
    command: value.command ?? "true",
    ...(value.cwd !== undefined && { cwd: value.cwd }),
    ...(value.timeoutMs !== undefined && { timeout_ms: Number(value.timeoutMs) }),
  },
  rules,
});
const gitOp = (value: { args?: string[]; cwd?: string }, rules: readonly string[]): Broken => ({
  typed: { case: "gitOp", value: { operation: "STATUS", ...value } },
  tool: "git",
  input: { operation: "STATUS", ...value },
  rules,
});

const CASES: readonly Broken[] = [
  fileRead({ path: "" }, ["path required"]),
  fileRead({ path: "a".repeat(MAX_PATH_LEN + 1) }, ["path max_length"]),
  fileRead({ path: "a\0b" }, ["path no_nul"]),
  fileRead({ path: "a/../b" }, ["path no_traversal"]),
  fileRead({ path: "a\0/.." }, ["path no_nul", "path no_traversal"]),
  fileRead({ path: "a", limit: BigInt(MAX_READ_LIMIT) + 1n }, ["limit range"]),
  {
    typed: { case: "fileWrite", value: { path: "a\0", createOnly: true, append: true } },
    tool: "file_write",
    input: { path: "a\0", content: "", create_only: true, append: true },
    rules: ["append exclusive", "path no_nul"],
  },
  {
    typed: { case: "fileEdit", value: { path: "a", oldContent: "", newContent: "é".repeat(MAX_EDIT_SIZE / 2 + 1) } },
    tool: "file_edit",
    input: { path: "a", old_content: "", new_content: "é".repeat(MAX_EDIT_SIZE / 2 + 1) },
    rules: ["new_content max_length", "old_content required"],
  },
  shellExec({ command: "" }, ["command required"]),
  shellExec({ command: "é".repeat(MAX_COMMAND_LEN / 2 + 1) }, ["command max_length"]),
  shellExec({ command: "a\0b" }, ["command no_nul"]),
  shellExec({ cwd: "../x" }, ["cwd no_traversal"]),
  shellExec({ cwd: "a\0" }, ["cwd no_nul"]),
  shellExec({ timeoutMs: BigInt(MAX_TIMEOUT_MS) + 1n }, ["timeout_ms range"]),
  gitOp({ args: ["a", "b\0"] }, ["args[1] no_nul"]),
  gitOp({ args: ["é".repeat(MAX_ARG_LEN / 2 + 1)] }, ["args[0] max_length"]),
  gitOp({ args: Array.from({ length: 1001 }, () => "a") }, ["args max_items"]),
  gitOp({ cwd: "a/../.." }, ["cwd no_traversal"]),
];

describe("the JSON form of a call", { timeout: 60_000 }, () => {
  let at: FileKernel;
  before(async () => {
    at = await createFileKernel();
  });
  after(() => at[Symbol.asyncDispose]());

  const sendJson = (tool: string, input: JsonObject): Promise<ToolResponse["result"]> =>
    at.send({ case: "call", value: { name: tool, input: Buffer.from(JSON.stringify(input)) } });

  it("reports the same violations by the same names as the typed message, and starts nothing", async () => {
    for (const { typed, tool, input, rules } of CASES) {
      const shown = `${tool} ${JSON.stringify(input).slice(0, 80)}`;
      const [first, second] = [await at.send(typed), await sendJson(tool, input)];
      assert.deepEqual([codeOf(first), rulesOf(first)], ["INVALID_REQUEST", rules], shown);
      assert.deepEqual([codeOf(second), rulesOf(second)], ["INVALID_INPUT", rules], shown);
    }
    const records = await at.kernel.listRecords({ chain: at.session.id, limit: 1000 });
    const entries = records.flatMap(({ record }) => fromBinary(RecordSchema, record).entries);
    assert.ok(!entries.some(({ kind }) => kind.case === "toolStarted"));
  });

  it("names fields of tools without a typed message in the same way", async () => {
    for (const [tool, input, rules] of [
      ["file_move", { source: "a\0", destination: "../b" }, ["destination no_traversal", "source no_nul"]],
      ["file_list", { path: "x/.." }, ["path no_traversal"]],
      ["shell_spawn", { command: "a\0", cwd: ".." }, ["command no_nul", "cwd no_traversal"]],
      [
        "shell_exec",
        { command: "true", env: { A: "x\0", B: "x".repeat(MAX_ARG_LEN) } },
        ["env.A no_nul", "env.B max_length"],
      ],
      ["shell_exec", { command: "true", env: { "A B": "x", LD_PRELOAD: "x" } }, ['env["A B"] format']],
      ["shell_exec", { command: "true", env: { LD_PRELOAD: "x" } }, ["env.LD_PRELOAD format"]],
      ["shell_exec", { command: "true", env: manyVariables() }, ["env max_length"]],
      ["file_write", { path: "a", content: "*", encoding: "base64" }, ["content format"]],
    ] as const) {
      const result = await sendJson(tool, input);
      assert.deepEqual([codeOf(result), rulesOf(result)], ["INVALID_INPUT", rules], `${tool} ${JSON.stringify(rules)}`);
    }
  });
});

/** Each is short enough, and together they are more than a process can be given. */
function manyVariables(): JsonObject {
  return Object.fromEntries(Array.from({ length: 40 }, (_, index) => [`V${index}`, "x".repeat(30_000)]));
}

function codeOf(result: ToolResponse["result"]): string {
  return result.case === "error" ? result.value.errorCode : String(result.case);
}

/** Without the name of the message, which the JSON form does not have. */
function rulesOf(result: ToolResponse["result"]): string[] {
  if (result.case !== "error") return [];
  const known = result.value.violations.map(
    ({ field, rule }) => `${field.replace(/^(?:file_read|file_write|file_edit|shell_exec|git_op)\./, "")} ${rule}`,
  );
  return known.sort();
}
