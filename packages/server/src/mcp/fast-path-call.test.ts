import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import { parseFastPathCall } from "./fast-path-call.ts";

const params = { name: "echo", arguments: { a: 1 }, _meta: { "x/y": true } };
const call = { jsonrpc: "2.0", id: 1, method: "tools/call", params };

test("only a call with just tool, arguments and sender is plain", () => {
  const others: readonly JsonObject[] = [
    { ...call, method: "tools/list" },
    { ...call, jsonrpc: "1.0" },
    { ...call, id: null },
    { ...call, id: 1.5 },
    { ...call, id: { a: 1 } },
    { ...call, more: 1 },
    { jsonrpc: "2.0", method: "tools/call", params },
    { ...call, params: [] },
    { ...call, params: { ...params, name: 7 } },
    { ...call, params: { ...params, arguments: [] } },
    { ...call, params: { ...params, arguments: null } },
    { ...call, params: { ...params, task: {} } },
    { ...call, params: { ...params, requestState: "s" } },
    { ...call, params: { ...params, inputResponses: {} } },
    { ...call, params: { ...params, _meta: { progressToken: 1 } } },
    { ...call, params: { ...params, _meta: { traceparent: "t" } } },
  ];
  for (const other of others) assert.equal(parseFastPathCall(other), undefined, JSON.stringify(other));
  for (const other of [null, 1, "x", [call]]) assert.equal(parseFastPathCall(other), undefined);
});

test("a plain call keeps its arguments as they were sent, or has no arguments", () => {
  assert.deepEqual(parseFastPathCall(call), { id: 1, name: "echo", input: { a: 1 }, meta: '{"x/y":true}' });
  const bare = { ...call, id: "a", params: { name: "echo" } };
  assert.deepEqual(parseFastPathCall(bare), { id: "a", name: "echo", input: {}, meta: "" });
});
