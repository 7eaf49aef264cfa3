import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { blake3, canonicalJson, isKernelError, toHex, utf8 } from "@narthex/contracts";
import { createAllowListPolicy } from "./allow-list-policy.ts";
import type { PolicyRequest } from "./policy.ts";
import type { PolicyFile } from "./policy-file.ts";
import { policySetFrom } from "./policy-set.ts";
import { createReloadablePolicy } from "./reloadable-policy.ts";

const permit = (tool: string, annotations = ""): string =>
  `${annotations} permit(principal, action == Action::"${tool}", resource);\n`;
const request = (action: string): PolicyRequest => ({ principal: "ses_1", action, resource: "/project", context: {} });
const ECHO: PolicyFile = { name: "echo.cedar", text: permit("echo") };

describe("a set that cannot be used", () => {
  const unusable: [why: string, files: PolicyFile[], problem: RegExp][] = [
    ["no file", [], /^no policy is loaded/],
    ["an empty file", [{ name: "a.cedar", text: "" }], /^no policy is loaded/],
    ["comments only", [{ name: "a.cedar", text: "// permit" }], /^no policy is loaded/],
    ["one bad file beside a good one", [ECHO, { name: "b.cedar", text: "permit" }], /^b\.cedar:1:7: /],
    [
      "forbid",
      [ECHO, { name: "b.cedar", text: `forbid(principal, action, resource);` }],
      /forbid is not supported yet/,
    ],
    [
      "two rules of one id",
      [{ name: "a.cedar", text: permit("a", '@id("x")') + permit("b", '@id("x")') }],
      /^a\.cedar:2:1: the rule id `x` is taken by a\.cedar:1:1/,
    ],
    [
      "an id made to look like another rule's",
      [{ name: "a.cedar", text: permit("a", '@id("a.cedar#2")') + permit("b") }],
      /the rule id `a\.cedar#2` is taken/,
    ],
    ["two files of one name", [ECHO, ECHO], /two files named `echo\.cedar`/],
    ["a file name that would break the message", [{ name: "a\nb", text: permit("a") }], /is no name for a policy file/],
  ];
  for (const [why, files, problem] of unusable) {
    test(`denies everything and says why: ${why}`, () => {
      const policy = createAllowListPolicy(files);
      assert.ok("problem" in policy.current);
      assert.match(policy.current.problem, problem);
      const answer = policy.evaluate(request("echo"));
      assert.equal(answer.allowed, false);
      assert.deepEqual(answer.rules, []);
      assert.deepEqual(answer.errors, [policy.current.problem]);
    });
  }

  test("names the problems of every file", () => {
    const files = ["a", "b", "c"].map((name) => ({ name: `${name}.cedar`, text: "\n when" }));
    assert.throws(
      () => policySetFrom(files),
      (error) => {
        assert.ok(isKernelError(error));
        assert.deepEqual(
          error.violations.map(({ field }) => field),
          ["a.cedar:2:2", "b.cedar:2:2", "c.cedar:2:2"],
        );
        return error.message.endsWith(" (and 2 more)");
      },
    );
  });
});

describe("evaluating", () => {
  const policy = createAllowListPolicy([
    { name: "b.cedar", text: permit("echo", '@id("z") @approve("human")') + permit("hash") },
    { name: "a.cedar", text: permit("echo", '@id("Y")') },
  ]);

  test("what no rule names is denied without an error", () => {
    for (const action of ["echo2", "", "Echo", "__proto__", "constructor", "*"]) {
      assert.deepEqual(policy.evaluate(request(action)), { allowed: false, rules: [], errors: [] });
    }
  });

  test("all rules for the action determine the answer, sorted by id", () => {
    const { allowed, rules, errors } = policy.evaluate(request("echo"));
    assert.equal(allowed, true);
    assert.deepEqual(
      rules.map(({ id, approve }) => [id, approve]),
      [
        ["Y", "unstated"],
        ["z", "human"],
      ],
    );
    assert.deepEqual(errors, []);
    assert.deepEqual(
      policy.evaluate(request("hash")).rules.map(({ id }) => id),
      ["b.cedar#2"],
    );
  });

  test("an answer is made once and cannot be changed", () => {
    const answer = policy.evaluate(request("echo"));
    assert.equal(policy.evaluate(request("echo")), answer);
    assert.throws(() => Object.assign(answer, { allowed: false }), TypeError);
    assert.throws(() => Object.assign(answer.rules, { length: 0 }), TypeError);
    assert.throws(() => Object.assign(answer.rules[0] ?? {}, { approve: "none" }), TypeError);
  });
});

describe("a set's hash", () => {
  test("is that of its canonical bytes, whatever the order of files", () => {
    const files = [ECHO, { name: "a.cedar", text: permit("hash") }];
    const { set } = policySetFrom(files);
    assert.deepEqual(policySetFrom(files.toReversed()).set, set);
    assert.equal(
      Buffer.from(set.bytes).toString(),
      canonicalJson([files[1], files[0]].map((file) => ({ name: file?.name ?? "", text: file?.text ?? "" }))),
    );
    assert.equal(toHex(set.hash), toHex(blake3(set.bytes)));
    assert.equal(toHex(set.schemaHash), toHex(blake3(utf8("{}"))));
    assert.equal(set.engine, "narthex-allow-list/1");
    assert.equal(set.ruleCount, 2);
  });

  test("changes with any character of any file, comments too", () => {
    const { set } = policySetFrom([ECHO]);
    const renamed = policySetFrom([{ ...ECHO, name: "echo2.cedar" }]).set;
    const commented = policySetFrom([{ ...ECHO, text: `${ECHO.text}//` }]).set;
    assert.equal(new Set([set, renamed, commented].map(({ hash }) => toHex(hash))).size, 3);
  });
});

describe("replacing a set", () => {
  test("by one that cannot be used leaves the old one in force", () => {
    const policy = createReloadablePolicy(createAllowListPolicy([ECHO]));
    const before = policy.current;
    for (const files of [
      [],
      [{ name: "a.cedar", text: "" }],
      [{ name: "a.cedar", text: permit("hash") }, ECHO, ECHO],
    ]) {
      assert.throws(() => policy.replace(files), { code: "POLICY_INVALID" });
      assert.equal(policy.current, before);
      assert.equal(policy.evaluate(request("echo")).allowed, true);
      assert.equal(policy.evaluate(request("hash")).allowed, false);
    }
  });

  test("puts the new one in force at once, also where there was none", () => {
    const policy = createReloadablePolicy(createAllowListPolicy([]));
    assert.equal(policy.evaluate(request("hash")).allowed, false);
    const set = policy.replace([{ name: "a.cedar", text: permit("hash") }]);
    assert.equal(policy.current, set);
    assert.equal(policy.evaluate(request("hash")).allowed, true);
    assert.equal(policy.evaluate(request("echo")).allowed, false);
  });
});
