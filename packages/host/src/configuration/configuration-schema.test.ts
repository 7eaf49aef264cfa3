import assert from "node:assert/strict";
import { readFile } from "node:fs/promises";
import { test } from "node:test";
import { type JsonObject, type JsonValue, parseJson } from "@narthex/contracts";
import { defineTool } from "@narthex/kernel";
import { createTestKernel } from "@narthex/testkit";
import * as fc from "fast-check";
import { RUNS_ALL } from "../../../../test/sampled.ts";
import { SERVERS_SCHEMA, type ShapedSchema } from "../mcp-servers/servers-schema.ts";
import { INFERENCE_SCHEMA, NETWORK_SCHEMA, WEB_SEARCH_SCHEMA } from "../network/network-schema.ts";
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
  assert.equal(settings, 42);
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
  await fc.assert(fc.asyncProperty(arbitrarySection(CONFIGURATION_SCHEMA), agree), { numRuns: RUNS_ALL ? 300 : 100 });
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
  { mcp_servers: { memory: { url: "https://example.com/mcp", secret: "weather_key", tier: "privileged" } } },
  { mcp_servers: { memory: { url: "https://example.com/mcp", secret: "a secret itself" } } },
  { mcp_servers: { memory: { url: "https://example.com/mcp", secrets: { KEY: "weather_key" } } } },
  { mcp_servers: { memory: { url: "ftp://example.com" } } },
  { mcp_servers: { memory: { url: 1 } } },
  { mcp_servers: { memory: { url: "https://example.com", effects: [] } } },
  { mcp_servers: { memory: { url: "https://example.com", effects: ["net_read"], tools: { a: { effects: [] } } } } },
  { mcp_servers: { memory: { command: ["node"], secret: "weather_key" } } },
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
  { network: {} },
  { network: [] },
  { network: { host: [] } },
  { network: { hosts: ["a.test", "*", "*.a.test", "a.test:8443", "127.0.0.1:80", "[::1]:443"] } },
  { network: { hosts: ["*:443"] } },
  { network: { hosts: ["**"] } },
  { network: { hosts: ["a.*"] } },
  { network: { hosts: ["https://a.test"] } },
  { network: { hosts: "a.test" } },
  { network: { dns: [] } },
  { network: { dns: ["1.1.1.1", "1.1.1.1:53", "[2620:fe::fe]", "[2620:fe::fe]:53"] } },
  { network: { dns: ["1.1.1.1:65535"] } },
  { network: { dns: ["1.1.1.1:65536"] } },
  { network: { dns: ["1.1.1.1:0"] } },
  { network: { dns: ["1.1.1"] } },
  { network: { dns: ["1.1.1.256"] } },
  { network: { dns: ["2620:fe::fe"] } },
  { network: { dns: ["dns.test"] } },
  { network: { dns: "1.1.1.1" } },
  { network: { dns: Array.from({ length: 9 }, () => "1.1.1.1") } },
  { network: { authorities: ["/a.pem"] } },
  { network: { authorities: ["a.pem"] } },
  { network: { authorities: "/a.pem" } },
  { network: { secrets: {} } },
  { network: { secrets: { token: [] } } },
  { network: { secrets: { token: "a.test" } } },
  { network: { secrets: { Token: ["a.test"] } } },
  { network: { secrets: { token: ["a.test", "a.test:8443", "*.a.test", "*.a.test:1", "127.0.0.1:80", "[::1]"] } } },
  { network: { secrets: { token: ["[::1]:443"] } } },
  { network: { secrets: { token: ["*"] } } },
  { network: { secrets: { token: ["*.*.test"] } } },
  { network: { secrets: { token: ["a.*"] } } },
  { network: { secrets: { token: ["A.test"] } } },
  { network: { secrets: { token: ["a.test:"] } } },
  { network: { secrets: { token: ["a.test:0"] } } },
  { network: { secrets: { token: ["a.test:65536"] } } },
  { network: { secrets: { token: ["a.test:443/x"] } } },
  { network: { secrets: { token: ["https://a.test"] } } },
  { network: { secrets: { token: ["a-.test"] } } },
  { network: { secrets: { token: ["a..test"] } } },
  { network: { secrets: { token: ["::1"] } } },
  { network: { secrets: { token: [""] } } },
  { network: { secrets: { token: [1] } } },
  { network: { credentials: [{ host: "a.test", secret: "token" }] } },
  { network: { credentials: [{ host: "a.test", secret: "token", user: "x y" }] } },
  { network: { credentials: [{ host: "a.test", secret: "token", user: "a:b" }] } },
  { network: { credentials: [{ host: "a.test", secret: "token", user: "" }] } },
  { network: { credentials: [{ host: "a.test" }] } },
  { network: { credentials: [{ secret: "token" }] } },
  { network: { credentials: [{ host: "a.test", secret: "token", password: "x" }] } },
  { network: { credentials: { host: "a.test", secret: "token" } } },
  { web_search: {} },
  { web_search: { own: { kind: "searxng", url: "https://a.test/searx" } } },
  { web_search: { own: { kind: "brave", url: "http://[::1]:8080", secret: "brave_key" } } },
  { web_search: { own: { kind: "google", url: "https://a.test" } } },
  { web_search: { own: { kind: "searxng" } } },
  { web_search: { own: { url: "https://a.test" } } },
  { web_search: { own: { kind: "searxng", url: "https://user@a.test" } } },
  { web_search: { own: { kind: "searxng", url: "https://a.test/?q=1" } } },
  { web_search: { own: { kind: "searxng", url: "https://a.test/#x" } } },
  { web_search: { own: { kind: "searxng", url: "ftp://a.test" } } },
  { web_search: { own: { kind: "searxng", url: "https://a.test", secret: "a secret itself" } } },
  { web_search: { Own: { kind: "searxng", url: "https://a.test" } } },
  { web_search: [] },
  { inference: {} },
  { inference: { local: { format: "openai", url: "http://127.0.0.1:11434/v1" } } },
  { inference: { local: { format: "gemini", url: "https://a.test", max_tokens_field: "max_completion_tokens" } } },
  { inference: { local: { format: "anthropic", url: "https://a.test", input_price: 0, output_price: 1e12 } } },
  { inference: { local: { format: "anthropic", url: "https://a.test", output_price: 1e12 + 1 } } },
  { inference: { local: { format: "anthropic", url: "https://a.test", input_price: -1 } } },
  { inference: { local: { format: "anthropic", url: "https://a.test", input_price: 0.5 } } },
  { inference: { local: { format: "ollama", url: "https://a.test" } } },
  { inference: { local: { format: "openai" } } },
  { inference: { local: { url: "https://a.test" } } },
  { inference: { local: { format: "openai", url: "a.test" } } },
  { inference: { local: { format: "openai", url: "https://a.test", max_tokens_field: "tokens" } } },
  { inference: { local: { format: "openai", url: "https://a.test", models: { "x/y:1": { input_price: 5 } } } } },
  { inference: { local: { format: "openai", url: "https://a.test", models: { "x/y:1": {} } } } },
  { inference: { local: { format: "openai", url: "https://a.test", models: { "x/y:1": { price: 5 } } } } },
  { inference: { local: { format: "openai", url: "https://a.test", models: { "": {} } } } },
  { inference: { local: { format: "openai", url: "https://a.test", models: [] } } },
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

const SHAPED: readonly ShapedSchema[] = [SERVERS_SCHEMA, NETWORK_SCHEMA, WEB_SEARCH_SCHEMA, INFERENCE_SCHEMA];

/** Every text of a shaped section is one of these, if its shape takes it. */
const TEXTS = [
  "a.test",
  "*.a.test:8443",
  "[2001:db8::1]:443",
  "1.1.1.1:53",
  "/etc/a.pem",
  "https://a.test/v1",
  "http://[::1]:8080",
  "token_2",
  "A_1",
  "a user",
  "node",
];

function arbitraryShaped(schema: ShapedSchema): fc.Arbitrary<JsonValue> {
  const wrong = fc.constantFrom<JsonValue>(null, true, "", -1, 0.5, [], {}, "a b\u0000");
  return fc.oneof({ weight: 40, arbitrary: arbitraryShape(schema) }, { weight: 1, arbitrary: wrong });
}

function arbitraryShape(schema: ShapedSchema): fc.Arbitrary<JsonValue> {
  if (schema.type === "integer") return fc.integer({ min: schema.minimum, max: schema.maximum });
  if (schema.type === "array") {
    const { items, minItems: minLength = 0 } = schema;
    return fc.array(arbitraryShaped(items), { minLength, maxLength: 3 });
  }
  if (schema.type === "string") return fc.constantFrom(...("enum" in schema ? schema.enum : textsFor(schema.pattern)));
  if ("if" in schema) return fc.oneof(arbitraryShape(schema.then), arbitraryShape(schema.else));
  if ("properties" in schema) {
    const fields = Object.entries(schema.properties).map(([key, inner]) => [key, arbitraryShaped(inner)] as const);
    return fc.record(Object.fromEntries(fields), { requiredKeys: [...(schema.required ?? [])] });
  }
  const names = fc.constantFrom(...textsFor(schema.propertyNames.pattern));
  return fc.dictionary(names, arbitraryShaped(schema.additionalProperties), { maxKeys: 3 });
}

function textsFor(pattern: string): readonly string[] {
  const texts = TEXTS.filter((text) => new RegExp(pattern, "u").test(text));
  assert.ok(texts.length > 0, pattern);
  return texts;
}

function arbitraryRight(schema: SettingSchema): fc.Arbitrary<JsonValue> {
  if (isSection(schema)) return arbitrarySection(schema);
  const shape = SHAPED.find((shaped) => shaped === schema);
  if (shape !== undefined) return arbitraryShaped(shape);
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
