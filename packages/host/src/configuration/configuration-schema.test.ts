import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { type JsonObject, type JsonValue, parseJson } from "@narthex/contracts";
import { defineTool } from "@narthex/kernel";
import { createTestKernel } from "@narthex/testkit";
import * as fc from "fast-check";
import { CONFIGURATION_SCHEMA, isSection, type SectionSchema, type SettingSchema } from "./configuration-schema.ts";
import { parseConfiguration } from "./parse-configuration.ts";

async function readPublished(): Promise<JsonValue> {
  return parseJson(await readFile(new URL("../../narthex.schema.json", import.meta.url)));
}

test("the published schema is the one that files are checked against", async () => {
  assert.deepEqual(await readPublished(), JSON.parse(JSON.stringify(CONFIGURATION_SCHEMA)));
});

test("every key is described, and every default within its own range", () => {
  let settings = 0;
  function check(schema: SettingSchema, path: string): void {
    assert.ok(schema.description.length > 3, path);
    if (isSection(schema)) {
      assert.equal(schema.additionalProperties, false, path);
      for (const [key, inner] of Object.entries(schema.properties)) {
        assert.match(key, /^[a-z_]+$/);
        check(inner, `${path}.${key}`);
      }
      return;
    }
    settings++;
    if (schema.type === "integer" && schema.default !== undefined) {
      assert.ok(schema.default >= schema.minimum && schema.default <= schema.maximum, path);
    }
  }
  check(CONFIGURATION_SCHEMA, "");
  assert.equal(settings, 25);
});

test("the published schema and the reader take the same files", async () => {
  const { $schema: _dialect, ...published } = (await readPublished()) as JsonObject;
  const tool = defineTool({
    name: "configure",
    description: "Takes a configuration.",
    inputSchema: published,
    determinism: "pure",
    tier: "read_only",
    run: () => null,
  });
  const { kernel, open } = await createTestKernel({ tools: [tool] });
  const session = await open();
  let accepted = 0;
  const agree = async (value: JsonObject): Promise<void> => {
    const isTaken = takes(JSON.stringify(value));
    if (isTaken) accepted++;
    const { response } = await session.call("configure", value);
    const { result } = response;
    const code = result.case === "error" ? result.value.errorCode : result.case;
    assert.equal(code, isTaken ? "success" : "INVALID_INPUT", JSON.stringify(value));
  };
  for (const value of NEAR_MISSES) await agree(value);
  await fc.assert(fc.asyncProperty(arbitrarySection(CONFIGURATION_SCHEMA), agree), { numRuns: 300 });
  assert.ok(accepted > 20);
  await kernel.close();
});

const NEAR_MISSES: readonly JsonObject[] = [
  {},
  { listen: "[::1]:0" },
  { listen: "0.0.0.0:1" },
  { listen: null },
  { session: null },
  { session: {} },
  { session: { quarantine: {} } },
  { session: { ttl_ms: 1.0 } },
  { session: { ttl_ms: "1" } },
  { budgets: { calls: Number.MAX_SAFE_INTEGER } },
  { budgets: { call: 1 } },
  { view_bytes: [] },
  { vault: "/a/.b/..c" },
  { vault: "" },
  { vault: "/" },
  { vault: "a" },
  { vault: "/a/" },
  { vault: "/a/../b" },
  { vault: "/a/./b" },
  { protected_paths: [] },
  { protected_paths: [".git", "*.key", "a/..b/*"] },
  { protected_paths: ["/a"] },
  { protected_paths: [".."] },
  { protected_paths: ["a//b"] },
  { protected_paths: ["x".repeat(1025)] },
  { protected_paths: "x" },
  { protected_paths: [1] },
  { policy: { mode: "observe" } },
  { policy: { mode: "off" } },
  { shell: { backend: "host" } },
  { shell: { backend: "Host" } },
  { shell: { backend: "" } },
  { shell: { backends: "host" } },
  { mcp_servers: {} },
  { mcp_servers: [] },
  { mcp_servers: { memory: { command: ["node", "/srv/memory.js"] } } },
  { mcp_servers: { memory: {} } },
  { mcp_servers: { memory: { command: [] } } },
  { mcp_servers: { memory: { command: "node" } } },
  { mcp_servers: { memory: { command: ["node", ""] } } },
  { mcp_servers: { memory: { command: ["node", 1] } } },
  { mcp_servers: { Memory: { command: ["node"] } } },
  { mcp_servers: { a__b: { command: ["node"] } } },
  { mcp_servers: { a_b: { command: ["node"] } } },
  { mcp_servers: { memory: { command: ["node"], url: "https://example.com" } } },
  { mcp_servers: { memory: { command: ["node"], env: { PORT: "1", A_b: "" } } } },
  { mcp_servers: { memory: { command: ["node"], env: { PORT: 1 } } } },
  { mcp_servers: { memory: { command: ["node"], env: { PATH: "/x" } } } },
  { mcp_servers: { memory: { command: ["node"], env: { LD_PRELOAD: "/x" } } } },
  { mcp_servers: { memory: { command: ["node"], env: { "A B": "/x" } } } },
  { mcp_servers: { memory: { command: ["node"], secrets: { KEY: "weather_key" } } } },
  { mcp_servers: { memory: { command: ["node"], secrets: { KEY: "a secret itself" } } } },
  { mcp_servers: { memory: { command: ["node"], files: ["/srv/a"] } } },
  { mcp_servers: { memory: { command: ["node"], files: ["srv/a"] } } },
  { mcp_servers: { memory: { command: ["node"], files: ["/srv/../a"] } } },
  { mcp_servers: { memory: { command: ["node"], files: ["/"] } } },
  { mcp_servers: { memory: { command: ["node"], workspace: "write", tier: "read_only", effects: ["fs_read"] } } },
  { mcp_servers: { memory: { command: ["node"], workspace: "rw" } } },
  { mcp_servers: { memory: { command: ["node"], tier: "harmless" } } },
  { mcp_servers: { memory: { command: ["node"], effects: ["inference"] } } },
  { mcp_servers: { memory: { command: ["node"], timeout_ms: 0 } } },
  { mcp_servers: { memory: { command: ["node"], tools: { "get-sum": { effects: [], timeout_ms: 5 } } } } },
  { mcp_servers: { memory: { command: ["node"], tools: { "get-sum": { effect: [] } } } } },
];

function takes(text: string): boolean {
  try {
    parseConfiguration(text, "x");
    return true;
  } catch {
    return false;
  }
}

/** Mostly right, with values at the edges of their ranges and a wrong one here and there. */
function arbitrarySection(schema: SectionSchema): fc.Arbitrary<JsonObject> {
  const fields = Object.fromEntries(
    Object.entries(schema.properties).map(([key, inner]) => [key, arbitrarySetting(inner)]),
  );
  return fc
    .record(fields, { requiredKeys: [] })
    .map((value) =>
      Object.fromEntries(Object.entries(value).flatMap(([key, inner]) => (inner === undefined ? [] : [[key, inner]]))),
    );
}

function arbitrarySetting(schema: SettingSchema): fc.Arbitrary<JsonValue> {
  const wrong = fc.constantFrom<JsonValue>(null, true, "", "5", -1, 0.5, [], [1], {}, { x: 1 });
  return fc.oneof({ weight: 24, arbitrary: arbitraryRight(schema) }, { weight: 1, arbitrary: wrong });
}

const arbitrarySecretName = fc.oneof(
  { weight: 12, arbitrary: fc.stringMatching(/^[a-z][a-z0-9_]{0,9}$/) },
  { weight: 1, arbitrary: fc.constantFrom("Key", "", "1a", "a-b", "a".repeat(64), "a".repeat(65)) },
);
const arbitrarySource = fc.oneof(
  { weight: 12, arbitrary: fc.constantFrom<JsonValue>({ env: "A_1" }, { file: "/a" }, { command: ["a", "b c"] }) },
  {
    weight: 1,
    arbitrary: fc.constantFrom<JsonValue>(
      null,
      "x",
      {},
      { env: "A", file: "/a" },
      { env: "A-B" },
      { env: 1 },
      { file: "a" },
      { file: "/" },
      { command: [] },
      { command: "a" },
      { command: ["a", ""] },
      { command: ["a", 1] },
      { other: "x" },
    ),
  },
);

function arbitraryRight(schema: SettingSchema): fc.Arbitrary<JsonValue> {
  if (isSection(schema)) return arbitrarySection(schema);
  if (schema.type === "object") return fc.dictionary(arbitrarySecretName, arbitrarySource, { maxKeys: 3 });
  if (schema.type === "string" && "enum" in schema) return fc.constantFrom(...schema.enum);
  if (schema.type === "array") return fc.array(fc.constantFrom(".git", "a/*", "..x"), { maxLength: 4 });
  if (schema.type === "string" && schema.default === "") return fc.constantFrom("", "/a", "/srv/a b/.c");
  if (schema.type === "string") return fc.constantFrom("127.0.0.1:0", "localhost:65535", "[::1]:7411");
  const { minimum, maximum } = schema;
  return fc.oneof(
    { weight: 20, arbitrary: fc.integer({ min: minimum, max: maximum }) },
    { weight: 3, arbitrary: fc.constantFrom(minimum, maximum) },
    { weight: 1, arbitrary: fc.constantFrom(minimum - 1, Math.min(maximum + 1, Number.MAX_SAFE_INTEGER)) },
  );
}
