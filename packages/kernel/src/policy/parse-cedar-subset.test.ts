import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { describe, test } from "node:test";
import { isKernelError } from "@narthex/contracts";
import * as fc from "fast-check";
import { type CedarPermit, parseCedarSubset } from "./parse-cedar-subset.ts";

const PERMIT = 'permit(principal, action == Action::"echo", resource);';

function faultOf(text: string): string {
  try {
    parseCedarSubset({ name: "p.cedar", text });
  } catch (error) {
    assert.ok(isKernelError(error), String(error));
    assert.equal(error.code, "POLICY_INVALID");
    assert.doesNotMatch(error.message, /[\r\n]/);
    return error.message;
  }
  return "accepted";
}

describe("refused", () => {
  const cases: [text: string, fault: RegExp][] = [
    [
      'forbid(principal, action == Action::"echo", resource);',
      /^p\.cedar:1:1: forbid is not supported yet; only permit\(/,
    ],
    [`${PERMIT}\n  forbid(principal, action, resource);`, /^p\.cedar:2:3: forbid is not supported yet/],
    ["permit(principal, action, resource);", /^p\.cedar:1:25: a rule for every action is not supported yet/],
    ['permit(principal, action in [Action::"echo"], resource);', /^p\.cedar:1:26: `action in` is not supported yet/],
    ['permit(principal, action in Action::"all", resource);', /^p\.cedar:1:26: `action in` is not supported yet/],
    ['permit(principal, action = Action::"echo", resource);', /`action =` is not supported yet/],
    ['permit(principal, action != Action::"echo", resource);', /`action !=` is not supported yet/],
    ['permit(principal == User::"a", action == Action::"echo", resource);', /:1:18: constraining the principal is not/],
    ['permit(principal is User, action == Action::"echo", resource);', /constraining the principal is not/],
    ['permit(?principal, action == Action::"echo", resource);', /expected principal, found `\?`/],
    ['permit(principal, action == Action::"echo", resource in Dir::"x");', /:1:54: constraining the resource is not/],
    ['permit(principal, action == Action::"echo", resource) when { true };', /:1:55: when is not supported yet/],
    ['permit(principal, action == Action::"echo", resource) unless { true };', /:1:55: unless is not supported yet/],
    ['permit(principal, action == Narthex::Action::"echo", resource);', /expected Action, found `Narthex`/],
    ['permit(principal, action == action::"echo", resource);', /expected Action, found `action`/],
    ["permit(principal, action == Action::echo, resource);", /expected a tool's name in double quotes, found `echo`/],
    ["permit(principal, action == Action::'echo', resource);", /:1:37: this character means nothing/],
    ['permit(principal, action == Action::"", resource);', /no tool can be called ``/],
    ['permit(principal, action == Action::"*", resource);', /no tool can be called `\*`/],
    ['permit(principal, action == Action::"Echo", resource);', /no tool can be called `Echo`/],
    ['permit(principal, action == Action::"echo\\0", resource);', /no tool can be called `echo\\u\{0\}`/],
    ['permit(principal, action == Action::"echo", resource,);', /constraining|expected/],
    ['permit(principal, action == Action::"echo");', /expected `,`, found `\)`/],
    ['permit(principal, action == Action::"echo", resource)', /expected `;`, found the end of the file/],
    ["permit", /expected `\(`, found the end of the file/],
    ['Permit(principal, action == Action::"echo", resource);', /expected permit, found `Permit`/],
    [`${PERMIT};`, /:1:55: expected permit, found `;`/],
    ["/* x */", /:1:1: this character means nothing/],
    ["# x", /:1:1: this character means nothing/],
    [`\u00a0${PERMIT}`, /:1:1: this character means nothing/],
    [`\ufeff${PERMIT}`, /:1:1: the character U\+FEFF is not allowed/],
    [`// \u202e hidden\n${PERMIT}`, /:1:4: the character U\+202E is not allowed/],
    [`// \u001b[2J\n${PERMIT}`, /U\+001B is not allowed/],
    [`// \ud800\n${PERMIT}`, /U\+D800 is not allowed/],
    [`\n// 🤖🤖\n🤖`, /^p\.cedar:3:1: /],
    ['@id("a', /:1:5: this string does not end on its line/],
    ['@id("a\n")', /:1:5: this string does not end on its line/],
    ['@id("a\\', /:1:7: this is not an escape/],
    ['@id("\\q")', /:1:6: this is not an escape; allowed are/],
    ['@id("\\*")', /this is not an escape/],
    ['@id("\\x80")', /this is not an escape/],
    ['@id("\\x4")', /this is not an escape/],
    ['@id("\\u0041")', /this is not an escape/],
    ['@id("\\u{}")', /this is not an escape/],
    ['@id("\\u{1234567}")', /this is not an escape/],
    ['@id("\\u{d800}")', /this is not an escape/],
    ['@id("\\u{110000}")', /this is not an escape/],
    [`@approved("human") ${PERMIT}`, /:1:2: `approved` is not an annotation; .* did you mean @approve\?/],
    [`@"id"("x") ${PERMIT}`, /is not an annotation/],
    [`@id ${PERMIT}`, /expected `\(`, found `permit`/],
    [`@id() ${PERMIT}`, /expected the value of @id in double quotes/],
    [`@id("") ${PERMIT}`, /@id must have 1 to 256 characters/],
    [`@id("a\\nb") ${PERMIT}`, /@id must have 1 to 256 characters/],
    [`@id("${"x".repeat(257)}") ${PERMIT}`, /@id must have 1 to 256 characters/],
    [`@id("kernel:decide") ${PERMIT}`, /@id must not start with kernel:/],
    [`@id("a") @id("b") ${PERMIT}`, /:1:11: @id is given twice/],
    [`@approve("Human") ${PERMIT}`, /@approve must be "human", "console" or "none", not `Human`/],
    [`@approve("") ${PERMIT}`, /@approve must be/],
    [`@rationale("because") ${PERMIT}`, /@rationale must be a code/],
    [`@message("a\\nb") ${PERMIT}`, /@message must be one line/],
    ['@id("a")', /expected permit, found the end of the file/],
    ["x".repeat(1_048_577), /longer than 1 MB/],
  ];
  for (const [text, fault] of cases) {
    test(JSON.stringify(text).slice(0, 90), () => assert.match(faultOf(text), fault));
  }
});

describe("read", () => {
  test("rules with and without annotations", () => {
    const text = `
      // a comment, then a rule
      @id("first") @approve("human")
      @rationale("OK_1") // between annotations
      @message("says \\"hi\\" \\u{1F916} \\x41")`;
    const file = { name: "p.cedar", text: `${text}\n${PERMIT}${PERMIT}` };
    assert.deepEqual(parseCedarSubset(file), [
      {
        rule: { id: "first", approve: "human", rationale: "OK_1", message: 'says "hi" 🤖 A' },
        action: "echo",
        file,
        offset: file.text.indexOf("@id"),
      },
      {
        rule: { id: "p.cedar#2", approve: "unstated", rationale: undefined, message: undefined },
        action: "echo",
        file,
        offset: file.text.lastIndexOf("permit"),
      },
    ]);
  });

  test("escapes mean what they mean in Cedar", () => {
    const [permit] = parseCedarSubset({ name: "p", text: `@message("\\'\\"\\\\\\u{e4}\\x7e") ${PERMIT}` });
    assert.equal(permit?.rule.message, "'\"\\ä~");
  });

  test("a comment ends at a carriage return, as in Cedar", () => {
    assert.equal(parseCedarSubset({ name: "p", text: `// x\r${PERMIT}` }).length, 1);
    assert.equal(parseCedarSubset({ name: "p", text: `// ${PERMIT}` }).length, 0);
    assert.equal(parseCedarSubset({ name: "p", text: `${PERMIT}//` }).length, 1);
  });

  test("no space is needed and any is allowed", () => {
    assert.equal(parseCedarSubset({ name: "p", text: PERMIT.replaceAll(" ", "") }).length, 1);
    const tokens = [
      "permit",
      "(",
      "principal",
      ",",
      "action",
      "==",
      "Action",
      "::",
      '"echo"',
      ",",
      "resource",
      ")",
      ";",
    ];
    const spaced = tokens.join("\r\n\t // x\n");
    assert.equal(parseCedarSubset({ name: "p", text: spaced }).length, 1);
  });

  test("the default policy", () => {
    const text = readFileSync(new URL("../../../../policies/default.cedar", import.meta.url), "utf8");
    const permits = parseCedarSubset({ name: "default.cedar", text });
    const approvalOf = (wanted: string) =>
      permits.filter(({ action }) => action === wanted).map(({ rule }) => rule.approve);
    for (const action of ["echo", "hash", "result_read", "file_read", "file_write"]) {
      assert.deepEqual(approvalOf(action), ["unstated"], action);
    }
    // Without a rule that says otherwise a person is asked, since the tool is privileged.
    assert.deepEqual(approvalOf("shell_exec"), ["unstated"]);
    assert.deepEqual(approvalOf("write_protected"), []);
  });
});

test("whatever the text, it is read or refused with a place", () => {
  const piece = fc.constantFrom(...PERMIT.split(/(\W)/), "@id", '("a")', "//", "\n", "\\", '"', "when", "forbid", "🤖");
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(piece, { maxLength: 40 }).map((pieces) => pieces.join("")),
  );
  fc.assert(
    fc.property(text, (input) => {
      const fault = faultOf(input);
      assert.ok(fault === "accepted" || /^p\.cedar:\d+:\d+: /.test(fault), fault);
    }),
    { numRuns: 1000 },
  );
});

test("no changed character turns a rule into one for a tool it does not name, or drops its demand", () => {
  const text = '@id("x") @approve("console") permit(principal, action == Action::"artifact_publish", resource);';
  for (let at = 0; at < text.length; at++) {
    for (const replacement of ["", " ", "/", '"', "\n", "\\", "a", ")"]) {
      const changed = text.slice(0, at) + replacement + text.slice(at + 1);
      for (const { rule, action } of permitsOf(changed)) {
        assert.equal(rule.approve, "console");
        assert.ok(changed.includes(`"${action}"`));
      }
    }
  }
});

function permitsOf(text: string): CedarPermit[] {
  try {
    return parseCedarSubset({ name: "p", text });
  } catch (error) {
    assert.ok(isKernelError(error));
    return [];
  }
}
