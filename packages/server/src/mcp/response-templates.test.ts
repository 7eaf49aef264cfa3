import assert from "node:assert/strict";
import { test } from "node:test";
import { ResponseTemplates } from "./response-templates.ts";

test("keeps few templates of short messages, and drops the oldest first", () => {
  const frames = new ResponseTemplates();
  frames.learn("x".repeat(5000), {});
  assert.equal(frames.find("x".repeat(5000)), undefined);
  for (let kind = 0; kind < 9; kind++) frames.learn(String(kind), {});
  assert.equal(frames.find("0"), undefined);
  assert.ok(frames.find("8"));
  frames.forget();
  assert.equal(frames.find("8"), undefined);
});

test("wraps another result in the same surrounding message", () => {
  const frames = new ResponseTemplates();
  frames.learn("", { content: [], isError: true, structuredContent: {}, _meta: { a: 1 }, resultType: "complete" });
  assert.equal(
    frames.find("")?.("id", { content: [1] }),
    `{"result":{"content":[1],"_meta":{"a":1},"resultType":"complete"},"jsonrpc":"2.0","id":"id"}`,
  );
});
