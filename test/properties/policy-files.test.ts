import assert from "node:assert/strict";
import { test } from "node:test";
import { isKernelError } from "@narthex/contracts";
import { permittedActions } from "@narthex/kernel";
import * as fc from "fast-check";
import { runsOf } from "../sampled.ts";
import { loadCedar } from "../../packages/host/src/policy/cedar-wasm.ts";
import { load, TEST_SCHEMA } from "../../packages/host/src/policy/test-policy.ts";

const RULE = '@id("x") @approve("console") permit(principal, action == Action::"git_push", resource);';

async function loadOrProblems(text: string) {
  try {
    return { set: await load(text), problems: [] };
  } catch (fault) {
    assert.ok(isKernelError(fault) && fault.code === "POLICY_INVALID", String(fault));
    return { set: undefined, problems: fault.violations };
  }
}

test("any text is parsed as Cedar parses it or rejected with a position inside it", async () => {
  const cedar = await loadCedar();
  const piece = fc.constantFrom(
    ...RULE.split(/(\W)/).filter((part) => part !== ""),
    RULE,
    "//",
    "\n",
    "\r",
    "\\",
    '"',
    "/*",
    "when { true }",
    "forbid(principal, action, resource);",
    "🤖",
    "é",
    ";",
  );
  const text = fc.oneof(
    fc.string({ unit: "binary" }),
    fc.array(piece, { maxLength: 30 }).map((pieces) => pieces.join("")),
  );
  await fc.assert(
    fc.asyncProperty(text, async (input) => {
      const { set, problems } = await loadOrProblems(input);
      if (set !== undefined) {
        const whole = cedar.policySetTextToParts(input);
        assert.ok(whole.type === "success" && whole.policies.length === set.rules.length);
        return;
      }
      assert.ok(problems.length > 0);
      const lines = input.split(/\r\n|[\r\n]/);
      for (const { field, message } of problems) {
        const [, line, column] = /^p\.cedar:(\d+):(\d+)$/.exec(field) ?? [];
        if (line === undefined) assert.match(message, /^there is no rule/);
        else assert.ok(Number(column) <= Array.from(lines[Number(line) - 1] ?? assert.fail(field)).length + 1, field);
        assert.doesNotMatch(message, /[\p{Cc}\p{Cs}]/u);
      }
    }),
    { numRuns: runsOf(400) },
  );
});

test("no changed character turns a rule into one for another action, or drops its approval requirement", async () => {
  for (let at = 0; at < RULE.length; at++) {
    for (const replacement of ["", " ", "/", '"', "a"]) {
      const changed = RULE.slice(0, at) + replacement + RULE.slice(at + 1);
      const { set } = await loadOrProblems(changed);
      if (set === undefined) continue;
      for (const { approve } of set.rules) assert.equal(approve, "console", changed);
      for (const action of permittedActions(set.policies, TEST_SCHEMA))
        assert.ok(changed.includes(`"${action}"`), changed);
    }
  }
});
