import assert from "node:assert/strict";
import { test } from "node:test";
import { isJsonObject, type JsonValue } from "@narthex/contracts";
import { checkDeclaration, type Tool } from "@narthex/kernel";
import { createWebSearch, httpFetch, webFetch } from "./index.ts";

const webSearch = createWebSearch([{ name: "own", kind: "searxng", baseUrl: "https://searx.example" }]);

/** What a tool takes: its required fields, and all of them. */
function fieldsOf({ inputSchema }: Tool): readonly [JsonValue | undefined, readonly string[]] {
  assert.ok(isJsonObject(inputSchema) && isJsonObject(inputSchema["properties"]));
  assert.equal(inputSchema["additionalProperties"], false);
  return [inputSchema["required"], Object.keys(inputSchema["properties"])];
}

test("the web tools are sound: side_effecting, external, untrusted, and behind the gate", () => {
  for (const tool of [httpFetch, webFetch, webSearch]) {
    checkDeclaration(tool);
    const { name, version, tier, determinism, isolation, labels, source } = tool;
    assert.deepEqual(
      [version, tier, determinism, isolation, labels, source],
      ["1.0.0", "side_effecting", "external", "http", ["untrusted"], "builtin"],
      name,
    );
  }
});

test("http_fetch reads and sends, and needs some right to either; the others only read", () => {
  assert.deepEqual(httpFetch.effects, ["net_read", "net_write"]);
  assert.deepEqual(httpFetch.capabilities, [
    { kind: "net_read", hosts: [] },
    { kind: "net_write", hosts: [] },
  ]);
  for (const { effects, capabilities } of [webFetch, webSearch]) {
    assert.deepEqual([effects, capabilities], [["net_read"], [{ kind: "net_read", hosts: [] }]]);
  }
});

test("the web tools take these fields and no others", () => {
  assert.deepEqual(fieldsOf(httpFetch), [["url"], ["url", "method", "headers", "body"]]);
  assert.deepEqual(fieldsOf(webFetch), [["url"], ["url", "format"]]);
  assert.deepEqual(fieldsOf(webSearch), [["query"], ["query", "max_results", "provider"]]);
});
