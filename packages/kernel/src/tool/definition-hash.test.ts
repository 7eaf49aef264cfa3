import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { canonicalJson, equalBytes, toHex } from "@narthex/contracts";
import { Type } from "typebox";
import { defineTool } from "./define-tool.ts";
import { definitionHash } from "./definition-hash.ts";
import { describeTool } from "./describe-tool.ts";
import type { Tool } from "./tool.ts";

const tool: Tool = defineTool({
  name: "fetch_page",
  description: "fetches a page",
  inputSchema: Type.Object({ url: Type.String() }),
  resultType: "string",
  effects: ["net_read", "env_read"],
  determinism: "external",
  capabilities: [
    { kind: "net_read", hosts: [{ host: "*" }] },
    { kind: "env_read", names: ["HOME"] },
  ],
  bounds: { maxNetworkRequests: 5 },
  run: () => "",
});

describe("a tool's definition", () => {
  it("is plain JSON under stable names", () => {
    assert.deepEqual(describeTool(tool), {
      name: "fetch_page",
      version: "1.0.0",
      description: "fetches a page",
      source: "embedder",
      isolation: "inline",
      input_schema: { type: "object", required: ["url"], properties: { url: { type: "string" } } },
      output_schema: null,
      result_type: "string",
      normalise: "binary",
      effects: ["env_read", "net_read"],
      determinism: "external",
      tier: "side_effecting",
      capabilities: [
        { kind: "net_read", hosts: [{ host: "*" }] },
        { kind: "env_read", names: ["HOME"] },
      ],
      bounds: { timeout_ms: 30_000, max_output_bytes: 16_384, max_network_requests: 5 },
      price: 1,
    });
    assert.doesNotThrow(() => canonicalJson(describeTool(tool)));
  });

  it("has a fixed hash", () => {
    assert.equal(toHex(definitionHash(tool)), "bb78e07d9c9b347045dc3d060b2cd5cc4ed1bb741db78a56c2bc0fb96e955289");
  });

  it("has the same hash in any order of effects and capabilities", () => {
    const reordered = { ...tool, effects: [...tool.effects].reverse(), capabilities: [...tool.capabilities].reverse() };
    assert.ok(equalBytes(definitionHash(reordered), definitionHash(tool)));
  });

  it("has another hash after any change", () => {
    const changes: Partial<Tool>[] = [
      { name: "fetch_pages" },
      { version: "1.0.1" },
      { description: "fetches a page." },
      { source: "builtin" },
      { isolation: "http" },
      { inputSchema: true },
      { outputSchema: true },
      { resultType: "binary" },
      { normalise: "custom" },
      { effects: ["net_read"] },
      { determinism: "nondeterministic" },
      { tier: "privileged" },
      { capabilities: [] },
      { bounds: { ...tool.bounds, timeoutMs: 1 } },
      { price: 2 },
      { program: { hash: "0".repeat(64) } },
      { program: { hash: "1".repeat(64) } },
    ];
    const hashes = changes.map((change) => toHex(definitionHash({ ...tool, ...change })));
    assert.equal(new Set([...hashes, toHex(definitionHash(tool))]).size, changes.length + 1);
  });
});
