import assert from "node:assert/strict";
import { test } from "node:test";
import { isKernelError, type JsonValue } from "@narthex/contracts";
import { definitionHash } from "@narthex/kernel";
import { parseManifest } from "./parse-manifest.ts";
import { describeCandidate } from "./program-tool.ts";

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

test("labels in a manifest that are none are named, once each", () => {
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
    const { declaration, command, secrets } = parse(labels);
    return describeCandidate({ declaration, source: {}, pin: { kind: "subprocess", command, files: [], secrets } });
  };
  const [plain, labelled] = [toolOf(), toolOf(["untrusted", "clipboard"])];
  assert.equal(plain.labels, undefined);
  assert.deepEqual(labelled.labels, ["untrusted", "clipboard"]);
  assert.notDeepEqual(definitionHash(labelled), definitionHash(plain));
  assert.deepEqual(definitionHash(toolOf([])), definitionHash(plain));
});
