import assert from "node:assert/strict";
import { test } from "node:test";
import { isKernelError, type JsonObject, type JsonValue } from "@narthex/contracts";
import { definitionHash } from "@narthex/kernel";
import { parseManifest } from "./parse-manifest.ts";
import { describeCandidate } from "./program-tool.ts";
import { decodeToolRecord, encodeToolRecord } from "./tool-record.ts";

const MANIFEST = {
  name: "clipboard",
  version: "1.0.0",
  description: "Reads what a stranger wrote.",
  command: ["python3", "./tool.py"],
  input_schema: true,
  effects: [],
  determinism: "external",
  tier: "read_only",
};

const DECLARED = {
  name: "weather",
  version: "1.0.0",
  description: "Says how warm it is.",
  input_schema: true,
  determinism: "external",
  tier: "side_effecting",
};
const ENDPOINT = { ...DECLARED, endpoint: { url: "https://tools.test/weather", secret: "weather_key" } };

const parse = (labels?: JsonValue) =>
  parseManifest({ ...MANIFEST, ...(labels !== undefined && { labels }) }, "tool.yaml");

function problems(labels: JsonValue): readonly string[] {
  try {
    parse(labels);
  } catch (fault) {
    assert.ok(isKernelError(fault) && fault.code === "INVALID_DECLARATION", String(fault));
    return fault.violations.map(({ field }) => field);
  }
  return [];
}

test("reports each invalid label in a manifest once", () => {
  const wrong: readonly (readonly [JsonValue, readonly string[]])[] = [
    ["secret", ["labels"]],
    [{ secret: true }, ["labels"]],
    [null, ["labels"]],
    [
      ["fine", 1, null, ["secret"]],
      ["labels[1]", "labels[2]", "labels[3]"],
    ],
    [["Secret"], ["labels"]],
    [[""], ["labels"]],
    [["a\u0000b"], ["labels"]],
    [["\u001b[2J"], ["labels"]],
    [["x".repeat(65)], ["labels"]],
    [["x".repeat(10_000)], ["labels"]],
    [Array.from({ length: 17 }, (_, index) => `label-${index}`), ["labels"]],
    [Array.from({ length: 100_000 }, () => "label"), ["labels"]],
  ];
  for (const [labels, fields] of wrong) assert.deepEqual(problems(labels), fields, JSON.stringify(labels).slice(0, 60));
});

test("a manifest's labels are part of what the tool is", () => {
  const toolOf = (labels?: JsonValue) => {
    const manifest = parse(labels);
    assert.ok("command" in manifest);
    const { declaration, command, secrets } = manifest;
    return describeCandidate({ declaration, source: {}, pin: { kind: "subprocess", command, files: [], secrets } });
  };
  const [plain, labelled] = [toolOf(), toolOf(["untrusted", "clipboard"])];
  assert.equal(plain.labels, undefined);
  assert.deepEqual(labelled.labels, ["untrusted", "clipboard"]);
  assert.notDeepEqual(definitionHash(labelled), definitionHash(plain));
  assert.deepEqual(definitionHash(toolOf([])), definitionHash(plain));
});

test("a manifest with an endpoint says nothing of effects, a program or the rights that follow", () => {
  const wrong: readonly (readonly [JsonObject, readonly string[]])[] = [
    [{ effects: [] }, ["effects"]],
    [{ effects: ["net_write"] }, ["effects"]],
    [{ effects: ["fs_write"] }, ["effects"]],
    [{ command: ["./tool"], files: ["a"], secrets: {} }, ["command", "files", "secrets"]],
    [{ capabilities: [{ kind: "net_write", hosts: [{ host: "*" }] }] }, ["capabilities[0]"]],
    [{ capabilities: [{ kind: "net_read", hosts: [] }] }, ["capabilities[0]"]],
    [{ bounds: { max_memory_bytes: 1, max_cpu_ms: 1 } }, ["bounds.max_memory_bytes", "bounds.max_cpu_ms"]],
    [{ tier: "read_only" }, ["tier"]],
    [{ determinism: "pure" }, ["determinism"]],
    [{ determinism: "deterministic" }, ["determinism"]],
    [{ endpoint: null }, ["endpoint"]],
    [{ endpoint: "https://tools.test/" }, ["endpoint"]],
    [{ endpoint: {} }, ["endpoint.url"]],
    [{ endpoint: { url: ["https://tools.test/"] } }, ["endpoint.url"]],
    [{ endpoint: { url: "https://tools.test/\nx" } }, ["endpoint.url"]],
    [{ endpoint: { url: `https://tools.test/${"x".repeat(3000)}` } }, ["endpoint.url"]],
    [{ endpoint: { url: "https://tools.test/", method: "GET" } }, ["endpoint.method"]],
    [{ endpoint: { url: "https://tools.test/", secret: "Not a name" } }, ["endpoint.secret"]],
    [{ endpoint: { url: "https://tools.test/", header: "x-key" } }, ["endpoint.header"]],
    [{ endpoint: { url: "https://tools.test/", prefix: "" } }, ["endpoint.prefix"]],
    [{ endpoint: { url: "https://tools.test/", secret: "key", prefix: "a\nb" } }, ["endpoint.prefix"]],
    [{ endpoint: { url: "https://tools.test/", idempotent: "yes" } }, ["endpoint.idempotent"]],
  ];
  for (const [change, fields] of wrong) {
    assert.throws(
      () => parseManifest({ ...ENDPOINT, ...change }, "tool.yaml"),
      (fault) => {
        assert.ok(isKernelError(fault) && fault.code === "INVALID_DECLARATION", String(fault));
        assert.deepEqual([...new Set(fault.violations.map(({ field }) => field))], fields, JSON.stringify(change));
        return true;
      },
    );
  }
});

test("a manifest with an endpoint is kept as it was written", () => {
  const capabilities = [{ kind: "artifact", names: ["report"] }];
  const manifest = parseManifest({ ...ENDPOINT, bounds: { max_network_bytes: 5000 }, capabilities }, "tool.yaml");
  assert.ok("endpoint" in manifest);
  const { declaration, endpoint } = manifest;
  assert.deepEqual(endpoint, {
    kind: "http",
    url: "https://tools.test/weather",
    key: { secret: "weather_key" },
    isIdempotent: false,
  });
  assert.deepEqual([declaration.effects, declaration.capabilities], [["net_write"], capabilities]);
  const added = { declaration, source: DECLARED, pin: endpoint };
  const again = decodeToolRecord(Buffer.from(encodeToolRecord(added)), "tool.json");
  assert.deepEqual(again.pin, endpoint);
});
