import assert from "node:assert/strict";
import { describe, test } from "node:test";
import type { MessageInitShape } from "@bufbuild/protobuf";
import { ToolRequestSchema } from "../gen/narthex/v1/tool_pb.js";
import * as limits from "../limits.ts";
import { RULES } from "../rule.ts";
import { create } from "./protobuf.ts";
import { validate } from "./validate.ts";

type Init = MessageInitShape<typeof ToolRequestSchema>;
type Tool = NonNullable<Init["tool"]>;

const HASH = new Uint8Array(32);
const FILE_READ: Tool = { case: "fileRead", value: { path: "a" } };

/** What is wrong with a request, as "field rule". */
function problems(init: Init): string[] {
  const request = create(ToolRequestSchema, { requestId: "r", sessionToken: "t", tool: FILE_READ, ...init });
  return validate(request).map(({ field, rule }) => `${field} ${rule}`);
}

function toolProblems(tool: Tool): string[] {
  return problems({ tool });
}

const fileRead = (value: object) => toolProblems({ case: "fileRead", value: { path: "a", ...value } });
const fileWrite = (value: object) => toolProblems({ case: "fileWrite", value: { path: "a", ...value } });
const fileEdit = (value: object) => toolProblems({ case: "fileEdit", value: { path: "a", oldContent: "x", ...value } });
const shellExec = (value: object) => toolProblems({ case: "shellExec", value: { command: "ls", ...value } });
const gitOp = (value: object) => toolProblems({ case: "gitOp", value: { operation: "STATUS", ...value } });
const inference = (value: object) =>
  toolProblems({ case: "inference", value: { provider: "p", model: "m", promptHash: HASH, ...value } });
const publish = (value: object) =>
  toolProblems({ case: "artifactPublish", value: { artifactId: "a", contentHash: HASH, category: "c", ...value } });
const call = (value: object) =>
  toolProblems({ case: "call", value: { name: "echo", input: new TextEncoder().encode("{}"), ...value } });

/** A character outside the basic plane is one character, two UTF-16 units and four bytes. */
const EMOJI = "😀";
const LONGEST_ID = EMOJI.repeat(limits.MAX_ID_LEN);
const LONGEST_PATH = EMOJI.repeat(limits.MAX_PATH_LEN);

/** The rules every path and, but for `required`, every working directory obeys. */
function checksPath(field: string, check: (path: string) => string[]): void {
  assert.deepEqual(check(`${LONGEST_PATH}x`), [`${field} max_length`]);
  assert.deepEqual(check("x".repeat(limits.MAX_PATH_LEN + 1)), [`${field} max_length`]);
  assert.deepEqual(check("a\0b"), [`${field} no_nul`]);
  for (const path of ["..", "../a", "a/..", "a/../b", "a\\..\\b", "..\\a", "/..", "a//..//b", "a/..\\b"]) {
    assert.deepEqual(check(path), [`${field} no_traversal`], path);
  }
  for (const path of ["...", "..a", "a..", "a/..b/c", "a/b../c", ".", "./a", "/a/.b", LONGEST_PATH]) {
    assert.deepEqual(check(path), [], path.slice(0, 40));
  }
}

describe("requests", () => {
  test("INV-0001 request_id is given and has at most 256 characters", () => {
    assert.deepEqual(problems({ requestId: "" }), ["request_id required"]);
    assert.deepEqual(problems({ requestId: `${LONGEST_ID}x` }), ["request_id max_length"]);
    assert.deepEqual(problems({ requestId: "x".repeat(257) }), ["request_id max_length"]);
    assert.deepEqual(problems({ requestId: LONGEST_ID }), []);
  });

  test("INV-0002 session_token is given and has at most 256 characters", () => {
    assert.deepEqual(problems({ sessionToken: "" }), ["session_token required"]);
    assert.deepEqual(problems({ sessionToken: `${LONGEST_ID}x` }), ["session_token max_length"]);
    assert.deepEqual(problems({ sessionToken: LONGEST_ID }), []);
  });

  test("INV-0003 dedupe_key has at most 256 characters and may be empty", () => {
    assert.deepEqual(problems({ dedupeKey: `${LONGEST_ID}x` }), ["dedupe_key max_length"]);
    assert.deepEqual(problems({ dedupeKey: LONGEST_ID }), []);
    assert.deepEqual(problems({ dedupeKey: "" }), []);
  });

  test("INV-0004 exactly one tool variant is given", () => {
    assert.deepEqual(problems({ tool: { case: undefined } }), ["tool required"]);
    assert.deepEqual(toolProblems(FILE_READ), []);
  });
});

describe("file_read", () => {
  test("INV-0005 path is given and has at most 4096 characters", () => {
    assert.deepEqual(fileRead({ path: "" }), ["file_read.path required"]);
    assert.deepEqual(fileRead({ path: `${LONGEST_PATH}x` }), ["file_read.path max_length"]);
    assert.deepEqual(fileRead({ path: LONGEST_PATH }), []);
  });

  test("INV-0006 path has no NUL", () => {
    for (const path of ["\0", "a\0", "\0a", "a/\0/b"]) assert.deepEqual(fileRead({ path }), ["file_read.path no_nul"]);
    assert.deepEqual(fileRead({ path: "a\u0001b" }), []);
  });

  test("INV-0007 path has no component `..`", () => {
    checksPath("file_read.path", (path) => fileRead({ path }));
  });

  test("INV-0008 limit is at most 1 GB", () => {
    assert.deepEqual(fileRead({ limit: 1_073_741_825n }), ["file_read.limit range"]);
    assert.deepEqual(fileRead({ limit: 2n ** 64n - 1n }), ["file_read.limit range"]);
    assert.deepEqual(fileRead({ limit: 1_073_741_824n }), []);
    assert.deepEqual(fileRead({ limit: 0n, offset: 2n ** 64n - 1n }), []);
    assert.deepEqual(fileRead({ limit: -1n, offset: -1n }), ["file_read.offset range", "file_read.limit range"]);
  });
});

describe("file_write", () => {
  test("INV-0009 path is given and has at most 4096 characters", () => {
    assert.deepEqual(fileWrite({ path: "" }), ["file_write.path required"]);
    assert.deepEqual(fileWrite({ path: `${LONGEST_PATH}x` }), ["file_write.path max_length"]);
    assert.deepEqual(fileWrite({ path: LONGEST_PATH }), []);
  });

  test("INV-0010 path has neither NUL nor a component `..`", () => {
    checksPath("file_write.path", (path) => fileWrite({ path }));
    assert.deepEqual(fileWrite({ path: "../\0" }), ["file_write.path no_nul", "file_write.path no_traversal"]);
  });

  test("INV-0011 content has at most 100 MB", () => {
    const buffer = new Uint8Array(limits.MAX_WRITE_SIZE + 1);
    assert.deepEqual(fileWrite({ content: buffer }), ["file_write.content max_length"]);
    assert.deepEqual(fileWrite({ content: buffer.subarray(1) }), []);
    assert.deepEqual(fileWrite({ content: new Uint8Array(0) }), []);
  });

  test("INV-0012 create_only and append exclude each other", () => {
    assert.deepEqual(fileWrite({ createOnly: true, append: true }), ["file_write.append exclusive"]);
    assert.deepEqual(fileWrite({ createOnly: true }), []);
    assert.deepEqual(fileWrite({ append: true }), []);
  });
});

describe("file_edit", () => {
  test("INV-0013 path is given, has at most 4096 characters, no NUL and no `..`", () => {
    assert.deepEqual(fileEdit({ path: "" }), ["file_edit.path required"]);
    checksPath("file_edit.path", (path) => fileEdit({ path }));
  });

  test("INV-0014 old_content is given and has at most 10 MB in UTF-8", () => {
    assert.deepEqual(fileEdit({ oldContent: "" }), ["file_edit.old_content required"]);
    assert.deepEqual(fileEdit({ oldContent: "x".repeat(10_485_761) }), ["file_edit.old_content max_length"]);
    assert.deepEqual(fileEdit({ oldContent: `${"é".repeat(5_242_880)}x` }), ["file_edit.old_content max_length"]);
    assert.deepEqual(fileEdit({ oldContent: "é".repeat(5_242_880) }), []);
    assert.deepEqual(fileEdit({ oldContent: "x".repeat(10_485_760) }), []);
  });

  test("INV-0015 new_content has at most 10 MB in UTF-8 and may be empty", () => {
    assert.deepEqual(fileEdit({ newContent: "x".repeat(10_485_761) }), ["file_edit.new_content max_length"]);
    assert.deepEqual(fileEdit({ newContent: `${EMOJI.repeat(2_621_440)}x` }), ["file_edit.new_content max_length"]);
    assert.deepEqual(fileEdit({ newContent: EMOJI.repeat(2_621_440) }), []);
    assert.deepEqual(fileEdit({ newContent: "" }), []);
    assert.deepEqual(fileEdit({ oldContent: "a\0b", newContent: "c\0d" }), []);
  });
});

describe("shell_exec", () => {
  test("INV-0016 command is given and has at most 1 MB in UTF-8", () => {
    assert.deepEqual(shellExec({ command: "" }), ["shell_exec.command required"]);
    assert.deepEqual(shellExec({ command: "x".repeat(1_048_577) }), ["shell_exec.command max_length"]);
    assert.deepEqual(shellExec({ command: `${"é".repeat(524_288)}x` }), ["shell_exec.command max_length"]);
    assert.deepEqual(shellExec({ command: "é".repeat(524_288) }), []);
    assert.deepEqual(shellExec({ command: "ls\0-l" }), ["shell_exec.command no_nul"]);
    assert.deepEqual(shellExec({ command: "cat ../x" }), []);
  });

  test("INV-0017 cwd has at most 4096 characters and may be empty", () => {
    assert.deepEqual(shellExec({ cwd: "" }), []);
    checksPath("shell_exec.cwd", (cwd) => shellExec({ cwd }));
  });

  test("INV-0018 timeout_ms is at most one hour", () => {
    assert.deepEqual(shellExec({ timeoutMs: 3_600_001n }), ["shell_exec.timeout_ms range"]);
    assert.deepEqual(shellExec({ timeoutMs: 3_600_000n }), []);
    assert.deepEqual(shellExec({ timeoutMs: 0n }), []);
  });

  test("INV-0019 env has at most 1000 entries", () => {
    assert.deepEqual(shellExec({ env: new Array(1001).fill("A=1") }), ["shell_exec.env max_items"]);
    assert.deepEqual(shellExec({ env: new Array(1000).fill("A=1") }), []);
    assert.equal(shellExec({ env: new Array(100_000).fill("bad") }).length, 1001);
  });

  test("INV-0020 each env entry has at most 32 KB and exactly one `=`", () => {
    const env = ["A=1", "B", "C=1=2", "=", "", `D=${"x".repeat(32_766)}`, `E=${"x".repeat(32_767)}`, "F=\0", "G=é"];
    assert.deepEqual(shellExec({ env }), [
      "shell_exec.env[1] format",
      "shell_exec.env[2] format",
      "shell_exec.env[4] format",
      "shell_exec.env[6] max_length",
      "shell_exec.env[7] no_nul",
    ]);
    assert.deepEqual(shellExec({ env: [`A=${"é".repeat(16_383)}`] }), []);
    assert.deepEqual(shellExec({ env: [`A=${"é".repeat(16_383)}x`] }), ["shell_exec.env[0] max_length"]);
  });
});

describe("git_op", () => {
  test("INV-0021 operation is one of the eighteen", () => {
    const names =
      "CLONE FETCH PULL DIFF COMMIT PUSH STATUS LOG BRANCH CHECKOUT MERGE REBASE ADD RESET STASH TAG REMOTE SHOW";
    assert.equal(names.split(" ").length, 18);
    for (const operation of names.split(" ")) assert.deepEqual(gitOp({ operation }), [], operation);
    for (const operation of ["status", "GC", "STATUS ", "PUSH --force", "constructor"]) {
      assert.deepEqual(gitOp({ operation }), ["git_op.operation one_of"], operation);
    }
    assert.deepEqual(gitOp({ operation: "" }), ["git_op.operation required"]);
  });

  test("INV-0022 args has at most 1000 entries", () => {
    assert.deepEqual(gitOp({ args: new Array(1001).fill("") }), ["git_op.args max_items"]);
    assert.deepEqual(gitOp({ args: new Array(1000).fill("") }), []);
  });

  test("INV-0023 each args entry has at most 32 KB", () => {
    assert.deepEqual(gitOp({ args: ["a", "x".repeat(32_769), "b\0"] }), [
      "git_op.args[1] max_length",
      "git_op.args[2] no_nul",
    ]);
    assert.deepEqual(gitOp({ args: ["x".repeat(32_768), "é".repeat(16_384), "../x", "a=b=c"] }), []);
  });

  test("INV-0024 cwd has at most 4096 characters", () => {
    assert.deepEqual(gitOp({ cwd: "" }), []);
    checksPath("git_op.cwd", (cwd) => gitOp({ cwd }));
  });
});

describe("inference", () => {
  test("INV-0025 provider is given and has at most 256 characters", () => {
    assert.deepEqual(inference({ provider: "" }), ["inference.provider required"]);
    assert.deepEqual(inference({ provider: `${LONGEST_ID}x` }), ["inference.provider max_length"]);
    assert.deepEqual(inference({ provider: LONGEST_ID }), []);
  });

  test("INV-0026 model is given and has at most 256 characters", () => {
    assert.deepEqual(inference({ model: "" }), ["inference.model required"]);
    assert.deepEqual(inference({ model: `${LONGEST_ID}x` }), ["inference.model max_length"]);
    assert.deepEqual(inference({ model: LONGEST_ID }), []);
  });

  test("INV-0027 prompt_hash has exactly 32 bytes", () => {
    for (const length of [0, 31, 33, 64]) {
      assert.deepEqual(inference({ promptHash: new Uint8Array(length) }), ["inference.prompt_hash exact_length"]);
    }
    assert.deepEqual(inference({ promptHash: HASH }), []);
  });

  test("INV-0028 max_tokens is at most 1,000,000", () => {
    assert.deepEqual(inference({ maxTokens: 1_000_001n }), ["inference.max_tokens range"]);
    assert.deepEqual(inference({ maxTokens: 1_000_000n }), []);
    assert.deepEqual(inference({ temperatureScaled: -1 }), ["inference.temperature_scaled range"]);
    assert.deepEqual(inference({ temperatureScaled: 0.7 }), ["inference.temperature_scaled range"]);
    assert.deepEqual(inference({ temperatureScaled: 70 }), []);
  });

  test("INV-0029 system_prompt_hash is empty or has exactly 32 bytes", () => {
    for (const length of [1, 31, 33]) {
      const problem = inference({ systemPromptHash: new Uint8Array(length) });
      assert.deepEqual(problem, ["inference.system_prompt_hash exact_length"]);
    }
    assert.deepEqual(inference({ systemPromptHash: HASH }), []);
    assert.deepEqual(inference({ systemPromptHash: new Uint8Array(0) }), []);
  });
});

describe("artifact_publish", () => {
  test("INV-0030 artifact_id is given and has at most 256 characters", () => {
    assert.deepEqual(publish({ artifactId: "" }), ["artifact_publish.artifact_id required"]);
    assert.deepEqual(publish({ artifactId: `${LONGEST_ID}x` }), ["artifact_publish.artifact_id max_length"]);
    assert.deepEqual(publish({ artifactId: LONGEST_ID }), []);
  });

  test("INV-0031 content_hash has exactly 32 bytes", () => {
    for (const length of [0, 31, 33]) {
      assert.deepEqual(publish({ contentHash: new Uint8Array(length) }), [
        "artifact_publish.content_hash exact_length",
      ]);
    }
    assert.deepEqual(publish({ contentHash: HASH }), []);
  });

  test("INV-0032 category is given and has at most 256 characters", () => {
    assert.deepEqual(publish({ category: "" }), ["artifact_publish.category required"]);
    assert.deepEqual(publish({ category: `${LONGEST_ID}x` }), ["artifact_publish.category max_length"]);
    assert.deepEqual(publish({ category: LONGEST_ID }), []);
  });

  test("INV-0033 metadata has at most 1000 entries", () => {
    assert.deepEqual(publish({ metadata: new Array(1001).fill("a=b") }), ["artifact_publish.metadata max_items"]);
    assert.deepEqual(publish({ metadata: new Array(1000).fill("a=b") }), []);
  });

  test("INV-0034 each metadata entry has at most 32 KB and exactly one `=`", () => {
    const metadata = ["a=b", "ab", "a=b=c", `a=${"x".repeat(32_767)}`, `a=${"x".repeat(32_766)}`];
    assert.deepEqual(publish({ metadata }), [
      "artifact_publish.metadata[1] format",
      "artifact_publish.metadata[2] format",
      "artifact_publish.metadata[3] max_length",
    ]);
  });
});

describe("call and cancel", () => {
  test("a call has a name, an input and bounded lengths", () => {
    assert.deepEqual(call({ name: "", input: new Uint8Array(0) }), ["call.name required", "call.input required"]);
    assert.deepEqual(call({ name: `${LONGEST_ID}x` }), ["call.name max_length"]);
    assert.deepEqual(call({ version: `${LONGEST_ID}x` }), ["call.version max_length"]);
    assert.deepEqual(call({ name: LONGEST_ID, version: LONGEST_ID }), []);
    const buffer = new Uint8Array(limits.MAX_CALL_INPUT_BYTES + 1);
    assert.deepEqual(call({ input: buffer }), ["call.input max_length"]);
    assert.deepEqual(call({ input: buffer.subarray(1) }), []);
  });

  test("cancelling names a request", () => {
    const cancel = (requestId: string) => toolProblems({ case: "cancel", value: { requestId } });
    assert.deepEqual(cancel(""), ["cancel.request_id required"]);
    assert.deepEqual(cancel("x".repeat(257)), ["cancel.request_id max_length"]);
    assert.deepEqual(cancel("x".repeat(256)), []);
  });
});

describe("errors", () => {
  test("CTR-0031 field names the field as the proto file does", () => {
    assert.deepEqual(fileRead({ path: "" }), ["file_read.path required"]);
    assert.deepEqual(shellExec({ env: ["A=1", "B=1", "C=1", "D"] }), ["shell_exec.env[3] format"]);
  });

  test("CTR-0032 rule names the broken rule from the closed list", () => {
    const errors = validate(create(ToolRequestSchema, { tool: { case: "shellExec", value: { env: ["x"] } } }));
    for (const { rule } of errors) assert.ok((RULES as readonly string[]).includes(rule), rule);
    for (const { message } of errors) assert.match(message, /^must [^\n]+$/);
  });

  test("CTR-0033 all errors are returned at once, in the order of the fields", () => {
    const request = create(ToolRequestSchema, {
      dedupeKey: "x".repeat(257),
      tool: {
        case: "shellExec",
        value: { cwd: `../${"x".repeat(4096)}\0`, timeoutMs: 4_000_000n, env: ["x", "\0=="] },
      },
    });
    const expected = [
      "request_id required",
      "session_token required",
      "dedupe_key max_length",
      "shell_exec.command required",
      "shell_exec.cwd max_length",
      "shell_exec.cwd no_nul",
      "shell_exec.cwd no_traversal",
      "shell_exec.timeout_ms range",
      "shell_exec.env[0] format",
      "shell_exec.env[1] no_nul",
      "shell_exec.env[1] format",
    ];
    assert.deepEqual(
      validate(request).map(({ field, rule }) => `${field} ${rule}`),
      expected,
    );
    assert.deepEqual(validate(request), validate(request));
  });

  test("CTR-0034 no errors mean that the request is valid", () => {
    assert.deepEqual(validate(create(ToolRequestSchema, { requestId: "r", sessionToken: "t", tool: FILE_READ })), []);
  });

  test("half a surrogate pair is refused in every text", () => {
    const lone = "x\ud800";
    assert.deepEqual(problems({ requestId: lone, sessionToken: lone, dedupeKey: lone }), [
      "request_id format",
      "session_token format",
      "dedupe_key format",
    ]);
    assert.deepEqual(fileEdit({ path: lone, oldContent: lone, newContent: lone }).length, 3);
    assert.deepEqual(shellExec({ command: lone, cwd: lone, env: [`${lone}=1`] }).length, 3);
    assert.deepEqual(gitOp({ args: [lone] }), ["git_op.args[0] format"]);
    assert.deepEqual(publish({ metadata: [`a=${lone}`] }), ["artifact_publish.metadata[0] format"]);
  });

  test("huge texts are measured without being taken apart", () => {
    const huge = EMOJI.repeat(25_000_000);
    assert.deepEqual(fileRead({ path: huge }), ["file_read.path max_length"]);
    assert.deepEqual(shellExec({ command: huge }), ["shell_exec.command max_length"]);
  });
});
