import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, test } from "node:test";
import { codeOf, type RequestFields, serveKernel } from "./served-kernel.ts";

type Tool = NonNullable<RequestFields["tool"]>;

/** One field at its limit and one beyond it. The numbers are written out: a constant that changes must be noticed here. */
interface Limit {
  readonly field: string;
  readonly rule: string;
  readonly most: number;
  /** A request whose field has this size. */
  request(size: number): RequestFields;
  /** How the largest one ends. */
  readonly ends: RegExp;
}

const DONE = /^success$/;
/** Accepted as a message, whatever the tool answers. */
const ACCEPTED = /^(?!INVALID_REQUEST$)/;

const kernel = await serveKernel({
  rules: ["shell_exec", "git_log", "file_edit", "file_write"]
    .map(
      (action) => `@id("any-${action}") @approve("none") permit(principal, action == Action::"${action}", resource);`,
    )
    .join("\n"),
});
after(() => kernel.stop());
const at = (path: string): string => join(kernel.home.workspace, path);

const tool = (value: Tool): RequestFields => ({ tool: value });
const text = (length: number): string => "x".repeat(length);
const hash = (size: number): Uint8Array => new Uint8Array(size).fill(1);
const echo: Tool = { case: "call", value: { name: "echo", input: Buffer.from("1") } };
const PROMPT = { provider: "none", model: "none", promptHash: hash(32) };
const ARTIFACT = { artifactId: "a", contentHash: hash(32), category: "text" };
const inference = (value: object): RequestFields => tool({ case: "inference", value: { ...PROMPT, ...value } });
const publish = (value: object): RequestFields => tool({ case: "artifactPublish", value: { ...ARTIFACT, ...value } });

const limit = (
  field: string,
  rule: string,
  most: number,
  request: Limit["request"],
  ends: RegExp = ACCEPTED,
): Limit => ({ field, rule, most, request, ends });

const LIMITS: Readonly<Record<string, readonly Limit[]>> = {
  "an identifier has at most 256 characters": [
    limit("request_id", "max_length", 256, (size) => ({ requestId: text(size), tool: echo }), DONE),
    limit(
      "session_token",
      "max_length",
      256,
      (size) => ({ sessionToken: text(size), tool: echo }),
      /^SESSION_UNKNOWN$/,
    ),
    limit("dedupe_key", "max_length", 256, (size) => ({ dedupeKey: text(size), tool: echo }), DONE),
    ...(["name", "version"] as const).map((name) =>
      limit(`call.${name}`, "max_length", 256, (size) =>
        tool({ case: "call", value: { name: "echo", input: Buffer.from("1"), [name]: text(size) } }),
      ),
    ),
    limit("cancel.request_id", "max_length", 256, (size) => tool({ case: "cancel", value: { requestId: text(size) } })),
    ...(["provider", "model"] as const).map((name) =>
      limit(`inference.${name}`, "max_length", 256, (size) => inference({ [name]: text(size) })),
    ),
    limit("artifact_publish.artifact_id", "max_length", 256, (size) => publish({ artifactId: text(size) })),
    limit("artifact_publish.category", "max_length", 256, (size) => publish({ category: text(size) })),
  ],
  "a path has at most 4096 characters": [
    limit("file_read.path", "max_length", 4096, (size) => tool({ case: "fileRead", value: { path: longPath(size) } })),
    limit("file_write.path", "max_length", 4096, (size) =>
      tool({ case: "fileWrite", value: { path: longPath(size) } }),
    ),
    limit("file_edit.path", "max_length", 4096, (size) =>
      tool({ case: "fileEdit", value: { path: longPath(size), oldContent: "a" } }),
    ),
    limit("shell_exec.cwd", "max_length", 4096, (size) =>
      tool({ case: "shellExec", value: { command: "true", cwd: longPath(size) } }),
    ),
    limit("git_op.cwd", "max_length", 4096, (size) =>
      tool({ case: "gitOp", value: { operation: "LOG", cwd: longPath(size) } }),
    ),
  ],
  "a read has at most 1 GB": [
    limit(
      "file_read.limit",
      "range",
      1_073_741_824,
      (size) => tool({ case: "fileRead", value: { path: "edited", limit: BigInt(size) } }),
      DONE,
    ),
  ],
  "each side of an edit has at most 10 MB": [
    limit(
      "file_edit.old_content",
      "max_length",
      10_485_760,
      (size) => tool({ case: "fileEdit", value: { path: "edited", oldContent: text(size), newContent: "short" } }),
      DONE,
    ),
    limit(
      "file_edit.new_content",
      "max_length",
      10_485_760,
      (size) => tool({ case: "fileEdit", value: { path: "edited", oldContent: "short", newContent: text(size) } }),
      DONE,
    ),
  ],
  "a command has at most 1 MB": [
    limit("shell_exec.command", "max_length", 1_048_576, (size) =>
      tool({ case: "shellExec", value: { command: `: ${text(size - 2)}` } }),
    ),
  ],
  "a time-out is at most 3,600,000 ms": [
    limit("shell_exec.timeout_ms", "range", 3_600_000, (size) =>
      tool({ case: "shellExec", value: { command: "true", timeoutMs: BigInt(size) } }),
    ),
  ],
  "one argument has at most 32 KB": [
    limit(
      "shell_exec.env[0]",
      "max_length",
      32_768,
      (size) => tool({ case: "shellExec", value: { command: "true", env: [`K=${text(size - 2)}`] } }),
      DONE,
    ),
    limit("git_op.args[1]", "max_length", 32_768, (size) =>
      tool({ case: "gitOp", value: { operation: "LOG", args: ["--", text(size)] } }),
    ),
    limit("artifact_publish.metadata[0]", "max_length", 32_768, (size) =>
      publish({ metadata: [`k=${text(size - 2)}`] }),
    ),
  ],
  "inference is asked for at most 1,000,000 tokens": [
    limit("inference.max_tokens", "range", 1_000_000, (size) => inference({ maxTokens: BigInt(size) })),
  ],
  "a hash has 32 bytes": [
    limit("inference.prompt_hash", "exact_length", 32, (size) => inference({ promptHash: hash(size) })),
    limit("inference.system_prompt_hash", "exact_length", 32, (size) => inference({ systemPromptHash: hash(size) })),
    limit("artifact_publish.content_hash", "exact_length", 32, (size) => publish({ contentHash: hash(size) })),
  ],
  "a repeated field has at most 1000 entries": [
    limit(
      "shell_exec.env",
      "max_items",
      1000,
      (size) => tool({ case: "shellExec", value: { command: "true", env: entries(size) } }),
      DONE,
    ),
    limit("git_op.args", "max_items", 1000, (size) =>
      tool({ case: "gitOp", value: { operation: "LOG", args: ["--", ...entries(size - 1)] } }),
    ),
    limit("artifact_publish.metadata", "max_items", 1000, (size) => publish({ metadata: entries(size) })),
  ],
};

/** Components as long as a file system takes them. */
function longPath(length: number): string {
  return "directory/".repeat(Math.ceil(length / 10)).slice(0, length - 1) + "x";
}

function entries(count: number): string[] {
  return Array.from({ length: count }, (_, index) => `K${index}=v`);
}

for (const [title, limits] of Object.entries(LIMITS)) {
  test(title, async () => {
    await writeFile(at("edited"), text(10_485_760));
    for (const { field, rule, most, request, ends } of limits) {
      const largest = await kernel.request(request(most));
      assert.match(codeOf(largest), ends, field);
      const { result } = await kernel.request(request(most + 1));
      assert.equal(codeOf({ result } as typeof largest), "INVALID_REQUEST", field);
      assert.ok(result.case === "error");
      assert.deepEqual(
        result.value.violations.map((violation) => [violation.field, violation.rule]),
        [[field, rule]],
      );
    }
  });
}

test("a hash that is too short is rejected", async () => {
  for (const { request, field } of LIMITS["a hash has 32 bytes"] ?? [])
    assert.equal(codeOf(await kernel.request(request(31))), "INVALID_REQUEST", field);
});

test("a write of more than 100 MB is rejected", async () => {
  const content = new Uint8Array(104_857_601);
  const write = (path: string, size: number) =>
    kernel.request(tool({ case: "fileWrite", value: { path, content: content.subarray(0, size) } }));
  assert.equal(codeOf(await write("largest", 104_857_600)), "success");
  assert.equal((await stat(at("largest"))).size, 104_857_600);
  const { result } = await write("larger", 104_857_601);
  assert.ok(result.case === "error");
  assert.deepEqual(
    [result.value.errorCode, ...result.value.violations.map(({ field, rule }) => `${field} ${rule}`)],
    ["INVALID_REQUEST", "file_write.content max_length"],
  );
  assert.ok(!existsSync(at("larger")));
});

test("afterwards the ledger is sound", () => kernel.assertSound());
