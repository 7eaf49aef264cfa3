import assert from "node:assert/strict";
import { test } from "node:test";
import type { DescMessage } from "@bufbuild/protobuf";
import {
  ToolDeniedSchema,
  ToolErrorSchema,
  ToolResponseSchema,
  ToolSuccessSchema,
  ValidationErrorSchema,
} from "../index.ts";

/** Numbers once released never change: clients generated from the first definitions go on working. */
const RELEASED: readonly (readonly [DescMessage, Readonly<Record<string, number>>])[] = [
  [ToolResponseSchema, { request_id: 1, success: 2, denied: 3, error: 4 }],
  [
    ToolSuccessSchema,
    { result_hash: 1, inline_result: 2, budget_consumed: 3, duration_ms: 4, proof_hash: 10, view: 11, labels: 12 },
  ],
  [ToolDeniedSchema, { rule_id: 1, rationale_code: 2, message: 3, proof_hash: 10 }],
  [ToolErrorSchema, { error_code: 1, message: 2, retryable: 3, retry_after_ms: 4, violations: 10 }],
  [ValidationErrorSchema, { field: 1, rule: 2, message: 3 }],
];

test("fields of answers have the numbers they were released with", () => {
  for (const [schema, numbers] of RELEASED) {
    for (const [name, number] of Object.entries(numbers)) {
      assert.equal(schema.fields.find((field) => field.name === name)?.number, number, `${schema.name}.${name}`);
    }
  }
});

test("violations are a list of ValidationError", () => {
  const violations = ToolErrorSchema.fields.find((field) => field.name === "violations");
  assert.equal(violations?.fieldKind, "list");
  assert.equal(violations?.message?.typeName, ValidationErrorSchema.typeName);
});
