import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import type { JsonValue } from "@narthex/contracts";
import { runsOf } from "../../../../test/sampled.ts";
import { applyEdits } from "./apply-edits.ts";
import type { ConfigurationEdit } from "./configuration-edit.ts";
import { parseJsonc, valueOf } from "./jsonc-tree.ts";
import { revertEdits } from "./revert-edits.ts";

const server = (value: JsonValue): ConfigurationEdit => ({
  kind: "member",
  at: ["servers"],
  key: "narthex",
  value,
  mayReplace: (current) => current === "old",
});
const denied = (value: JsonValue): ConfigurationEdit => ({ kind: "element", at: ["permissions", "deny"], value });

/** Adds, adds again, and takes back. */
function roundTrip(text: string, edits: readonly ConfigurationEdit[]): string {
  const { text: edited, applied } = applyEdits(text, edits);
  assert.deepEqual(applyEdits(edited, edits), { text: edited, applied: [] }, "a second time changes nothing");
  assert.equal(revertEdits(edited, applied).text, text, "and what was added can be taken back to the byte");
  return edited;
}

describe("applyEdits", () => {
  it("rejects a conflicting value, with its position", () => {
    for (const [text, at] of [
      ["[]", 0],
      ['{"servers": []}', 12],
      ['{"servers": {"narthex": "theirs"}}', 24],
      ['{"permissions": {"deny": "Bash"}}', 25],
    ] as const) {
      assert.throws(() => applyEdits(text, [server({ a: 1 }), denied("Bash")]), { name: "EditProblem", at }, text);
    }
  });

  it("keeps comments, trailing commas, tabs and line ends", () => {
    const text = [
      "// mine",
      "{",
      '\t"servers": {',
      '\t\t"other": { "command": "x" }, // keep',
      "\t},",
      '\t/* rules */ "permissions": {',
      '\t\t"deny": [',
      '\t\t\t"Read(.env)" // secret',
      "\t\t]",
      "\t}",
      "}",
      "",
    ].join("\r\n");
    const edited = roundTrip(text, [server({ command: "n", args: ["a"] }), denied("Bash"), denied("Edit")]);
    assert.equal(
      edited,
      [
        "// mine",
        "{",
        '\t"servers": {',
        '\t\t"other": { "command": "x" }, // keep',
        '\t\t"narthex": {',
        '\t\t\t"command": "n",',
        '\t\t\t"args": ["a"]',
        "\t\t},",
        "\t},",
        '\t/* rules */ "permissions": {',
        '\t\t"deny": [',
        '\t\t\t"Read(.env)", // secret',
        '\t\t\t"Bash",',
        '\t\t\t"Edit"',
        "\t\t]",
        "\t}",
        "}",
        "",
      ].join("\r\n"),
    );
  });

  it("keeps a file on one line if it was", () => {
    assert.equal(
      roundTrip('{"servers": {"a": 1}, "permissions": {"deny": ["x"]}}', [server(true), denied("y")]),
      '{"servers": {"a": 1, "narthex": true}, "permissions": {"deny": ["x", "y"]}}',
    );
  });

  it("keeps a comment in an empty object", () => {
    const edited = roundTrip('{\n  "servers": {\n    // none yet\n  }\n}\n', [server(1)]);
    assert.ok(edited.includes("// none yet\n"));
  });

  it("restores the exact text that it replaced", () => {
    roundTrip('{ "servers": { "narthex" : "old" } }', [server({ a: [] })]);
  });

  it("replaces the entries of an earlier version", () => {
    const hook: ConfigurationEdit = {
      kind: "element",
      at: ["hooks"],
      value: "ours 2",
      replaces: (current) => typeof current === "string" && current.startsWith("ours"),
    };
    const { text } = applyEdits('{"hooks": ["ours 1", "theirs", "ours 0"]}', [hook]);
    assert.deepEqual(valueOf(parseJsonc(text)), { hooks: ["theirs", "ours 2"] });
  });

  it("adds to any file, loses nothing, and can be reverted to the byte", () => {
    const key = fc.constantFrom("servers", "permissions", "deny", "x", "a b", "\u202e");
    const json = fc.letrec<{ readonly value: JsonValue }>((tie) => ({
      value: fc.oneof(
        { maxDepth: 4 },
        fc.string(),
        fc.integer(),
        fc.boolean(),
        fc.constant(null),
        fc.array(tie("value"), { maxLength: 4 }),
        fc.dictionary(key, tie("value"), { maxKeys: 4 }),
      ),
    })).value;
    const indent = fc.constantFrom(undefined, 2, 4, "\t");
    fc.assert(
      fc.property(fc.dictionary(key, json, { maxKeys: 4 }), indent, fc.boolean(), (value, space, isWindows) => {
        const source = `${JSON.stringify(value, undefined, space)}\n`;
        const text = isWindows ? source.replaceAll("\n", "\r\n") : source;
        const edits = [server({ command: "n", args: ["a", "b"] }), denied("Bash"), denied({ deep: ["x"] })];
        let edited: string;
        try {
          edited = applyEdits(text, edits).text;
        } catch (problem) {
          assert.ok(problem instanceof Error && problem.name === "EditProblem");
          return;
        }
        roundTrip(text, edits);
        assertHolds(valueOf(parseJsonc(edited)), value);
      }),
      { numRuns: runsOf(500) },
    );
  });
});

describe("takeBack", () => {
  it("keeps later changes, and reports them", () => {
    const { text, applied } = applyEdits("{}\n", [server({ command: "n" }), denied("Bash")]);
    const changed = text.replace('"n"', '"mine"').replace('"Bash"', '"Bash", "WebFetch"');
    const taken = revertEdits(changed, applied);
    assert.deepEqual(valueOf(parseJsonc(taken.text)), {
      servers: { narthex: { command: "mine" } },
      permissions: { deny: ["WebFetch"] },
    });
    assert.deepEqual(taken.conflicts, ["servers.narthex"]);
  });

  it("accepts that an edit was already reverted by hand", () => {
    const { applied } = applyEdits("{}\n", [server({ command: "n" }), denied("Bash")]);
    assert.deepEqual(revertEdits('{ "mine": 1 }', applied), { text: '{ "mine": 1 }', conflicts: [] });
  });

  it("keeps a comment that was added by hand to generated lines", () => {
    const { text, applied } = applyEdits("{}\n", [denied("Bash")]);
    const taken = revertEdits(text.replace('"Bash"', '"Bash" // no shell'), applied).text;
    assert.ok(taken.includes("// no shell"), taken);
  });
});

/** All of `expected` is still there. */
function assertHolds(found: JsonValue | undefined, expected: JsonValue): void {
  if (typeof expected !== "object" || expected === null) return assert.deepEqual(found, expected);
  assert.ok(typeof found === "object" && found !== null);
  for (const [key, value] of Object.entries(expected)) assertHolds((found as Record<string, JsonValue>)[key], value);
}
