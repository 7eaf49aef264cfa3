import assert from "node:assert/strict";
import { test } from "node:test";
import {
  create,
  decode,
  decodeResponse,
  encode,
  encodeResponse,
  type ToolResponse,
  ToolRequestSchema,
  ToolResponseSchema,
  utf8,
  validate,
} from "../index.ts";
import { blake3 } from "../digest/blake3.ts";

test("creating and validating a file read request", () => {
  const request = create(ToolRequestSchema, {
    requestId: "req-001",
    sessionToken: "session-abc",
    tool: { case: "fileRead", value: { path: "/workspace/src/main.rs", offset: 0n, limit: 0n } },
  });
  assert.deepEqual(validate(request), []);
  const bytes = encode(request);
  assert.equal(
    Buffer.from(bytes).toString("hex"),
    "0a077265712d303031120b73657373696f6e2d61626352180a162f776f726b73706163652f7372632f6d61696e2e7273",
  );
  assert.deepEqual(decode(bytes), request);
});

test("printing what is wrong with a request", () => {
  const request = create(ToolRequestSchema, {
    sessionToken: "session-abc",
    tool: { case: "fileRead", value: { path: "../x" } },
  });
  const lines = validate(request).map((e) => `Validation error in ${e.field}: ${e.message} (${e.rule})`);
  assert.deepEqual(lines, [
    "Validation error in request_id: must not be empty (required)",
    "Validation error in file_read.path: must not contain `..` as a path component (no_traversal)",
  ]);
});

test("creating a shell execution request", () => {
  const request = create(ToolRequestSchema, {
    requestId: "req-002",
    sessionToken: "session-abc",
    tool: {
      case: "shellExec",
      value: {
        command: "cargo test --release",
        cwd: "/workspace",
        timeoutMs: 300_000n,
        networkAccess: false,
        env: ["RUST_BACKTRACE=1", "CARGO_TERM_COLOR=always"],
      },
    },
  });
  assert.deepEqual(validate(request), []);
  assert.deepEqual(decode(encode(request)), request);
});

test("publishing an artifact", () => {
  const request = create(ToolRequestSchema, {
    requestId: "req-003",
    sessionToken: "session-abc",
    tool: {
      case: "artifactPublish",
      value: {
        artifactId: "test-results-001",
        contentHash: blake3(utf8("<testsuite/>")),
        category: "test_results",
        metadata: ["format=junit", "suite=integration"],
      },
    },
  });
  assert.deepEqual(validate(request), []);
  assert.deepEqual(decode(encode(request)), request);
});

test("handling tool responses", () => {
  const responses = [
    create(ToolResponseSchema, {
      requestId: "1",
      result: { case: "success", value: { inlineResult: utf8("hello"), budgetConsumed: 1n, durationMs: 12n } },
    }),
    create(ToolResponseSchema, {
      requestId: "2",
      result: {
        case: "denied",
        value: { ruleId: "no-shell", rationaleCode: "SHELL_EXEC_DENIED", message: "not here" },
      },
    }),
    create(ToolResponseSchema, {
      requestId: "3",
      result: {
        case: "error",
        value: { errorCode: "RATE_LIMITED", message: "slow down", retryable: true, retryAfterMs: 250n },
      },
    }),
    create(ToolResponseSchema, { requestId: "4" }),
  ];
  assert.deepEqual(
    responses.map((response) => describeResponse(decodeResponse(encodeResponse(response)))),
    [
      "success: hello, 1 unit in 12 ms",
      "denied by no-shell: not here",
      "RATE_LIMITED: slow down, retry after 250 ms",
      "no result",
    ],
  );
});

function describeResponse({ result }: ToolResponse): string {
  switch (result.case) {
    case "success": {
      const { inlineResult, budgetConsumed, durationMs } = result.value;
      return `success: ${new TextDecoder().decode(inlineResult)}, ${budgetConsumed} unit in ${durationMs} ms`;
    }
    case "denied":
      return `denied by ${result.value.ruleId}: ${result.value.message}`;
    case "error":
      return `${result.value.errorCode}: ${result.value.message}, retry after ${result.value.retryAfterMs} ms`;
    default:
      return "no result";
  }
}
