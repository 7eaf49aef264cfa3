import assert from "node:assert/strict";
import { test } from "node:test";
import { createApprovalForm, readFormDecision } from "./approval-form.ts";

const question = {
  approvalId: "apr_1",
  requestId: "r",
  tool: "shell_exec@1.0.0",
  workspace: "/w",
  kind: "human",
  effects: [],
  labels: [],
  messages: [],
  notes: [],
};
const messageFor = (command: string, more = {}): string =>
  createApprovalForm({ ...question, input: { command }, ...more })?.message ?? assert.fail("there is no form");

test("a form counts line ends and other escapes, so that the start of a call stays visible", () => {
  const message = messageFor(`rm -rf ~${"\n".repeat(60)}${"\u000b".repeat(9)}# safe\n\nend`);
  assert.match(message, /"command": "rm -rf ~\[\\n\*60\]\[\\u000b\*9\]# safe\\n\\nend"/);
});

test("a backslash before an n is not a line end", () => {
  assert.match(messageFor("\\n\\n\\n\\n"), /"command": "\\\\n\\\\n\\\\n\\\\n"/);
});

test("a form shows the facts that a person should know", () => {
  assert.match(messageFor("./x", { notes: ['"x" changed'] }), /^Note: "x" changed$/m);
});

test("a form shows the call on its first line, and in full below", () => {
  const [first = "", ...rest] = messageFor("curl https://a.example\nrm -rf ~", {
    notes: ["it runs without network"],
  }).split("\n");
  assert.equal(first, 'shell_exec: "curl https://a.example\\nrm -rf ~"');
  assert.deepEqual(rest[1], "Note: it runs without network");
  const long = messageFor(`echo ${"x".repeat(5000)}; rm -rf ~`);
  assert.match(long, /^shell_exec: "echo x+ \[\d+ characters more, see below\] x+; rm -rf ~"\n/);
  const other = createApprovalForm({
    ...question,
    tool: "t@1.0.0",
    input: { content: "x", path: "a\u202eb" },
  })?.message;
  assert.match(other ?? "", /^t: "a\[U\+202E\]b"\nAn agent asks to run t@1\.0\.0 in \/w\.\n/);
});

test("takes a decision only from a field of a submitted form", () => {
  for (const [result, said] of [
    [{ action: "accept", content: { approve: true } }, "once"],
    [{ action: "accept", content: { approve: false } }, "deny"],
    [{ action: "accept", content: { approve: "true" } }, "no_answer"],
    [{ action: "accept" }, "no_answer"],
    [{ action: "decline" }, "decline"],
    [{ action: "decline", content: { approve: true } }, "decline"],
    [{ action: "cancel" }, "cancel"],
    [undefined, "no_answer"],
  ] as const) {
    assert.equal(readFormDecision(result), said, JSON.stringify(result));
  }
});
