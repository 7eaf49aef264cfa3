import assert from "node:assert/strict";
import { test } from "node:test";
import fc from "fast-check";
import type { ApprovalSubject } from "./approval-subject.ts";
import { createRuleText } from "./rule-text.ts";

const subject = {
  agent: "ada",
  action: "file_write",
  workspace: "/w",
  directory: ".",
  labels: [],
  isBuiltin: true,
  definitionHash: new Uint8Array(32).fill(1),
  inputDigest: new Uint8Array(32).fill(2),
  scope: undefined,
  always: [],
  files: [],
} as Partial<ApprovalSubject> as ApprovalSubject;

const HEAD = [
  '@id("approved-apr_1")',
  '@approve("none")',
  'permit(principal == Agent::"ada", action == Action::"file_write",',
  '  resource == Workspace::"/w")',
];
const TAIL = 'context.directory == "." && context.labels.isEmpty() };';
const ruleFor = (more: Partial<ApprovalSubject>): string[] =>
  createRuleText("apr_1", { ...subject, ...more }).split("\n");

test("no input can inject a rule", () => {
  fc.assert(
    fc.property(fc.string({ unit: "binary" }), fc.string({ unit: "binary" }), (first, second) => {
      const paths = [first, `"]) }; permit(principal, action, resource); //${second}`];
      const text = createRuleText("apr_1", {
        ...subject,
        workspace: first,
        agent: second,
        directory: first,
        scope: { kind: "path", paths },
      });
      // Outside its strings a rule is the same whatever the input was.
      const bare = text.replace(/"[ !#-[\]-~\\]*?"/g, '""');
      assert.equal(
        bare,
        '@id("")\n@approve("")\npermit(principal == Agent::"", action == Action::"",\n  resource == Workspace::"")\n' +
          'when { ["", ""].contains(context.path) && context.directory == "" && context.labels.isEmpty() };\n',
      );
      assert.match(text, /^[\n -~]*$/);
    }),
  );
});

/** What a host answers makes its session untrusted. */
const UNTRUSTED = '["untrusted"].containsAll(context.labels)';

test("the narrowest rule names the path, the host, the command, or the exact input", () => {
  const digest = "02".repeat(32);
  assert.deepEqual(ruleFor({}), [...HEAD, `when { context.input_digest == "${digest}" && ${TAIL}`, ""]);
  assert.deepEqual(ruleFor({ scope: { kind: "path", paths: ["a b.txt"] } }), [
    ...HEAD,
    `when { ["a b.txt"].contains(context.path) && ${TAIL}`,
    "",
  ]);
  const host = { kind: "host", host: "example.com", port: 443, sends: true } as const;
  assert.equal(
    ruleFor({ scope: host })[4],
    'when { context has host && context has port && context has sends && context.host == "example.com" && ' +
      `context.port == 443 && context.sends == true && ${TAIL.replace("context.labels.isEmpty()", UNTRUSTED)}`,
  );
  const command = { kind: "command", words: ["ls", "a b"], line: "ls 'a b'", directory: "", network: false } as const;
  assert.equal(
    ruleFor({ scope: command })[4],
    `when { context.input_digest == "${digest}" && context.command.lines == ["ls 'a b'"] && ${TAIL}`,
  );
});

test("a rule applies to the directory and the labels that the person saw", () => {
  assert.match(ruleFor({ directory: "sub" })[4] ?? "", /context\.directory == "sub"/);
  assert.match(
    ruleFor({ labels: ["secret", "untrusted"] })[4] ?? "",
    /\["secret", "untrusted"\]\.containsAll\(context\.labels\)/,
  );
});

test("a rule for an external tool applies to its current definition only", () => {
  assert.match(ruleFor({ isBuiltin: false })[4] ?? "", /&& context\.definition_hash == "(?:01){32}" \};$/);
});

test("a rule for a call with a mandatory approval names the rule that it overrides", () => {
  const [id, approve, overrides, permit] = ruleFor({ always: ["ask-money", 'two"\n'] });
  assert.deepEqual([id, approve, permit], HEAD.slice(0, 3));
  assert.equal(overrides, '@overrides("ask-money, two\\u{22}\\u{a}")');
});
