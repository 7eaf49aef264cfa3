import assert from "node:assert/strict";
import { test } from "node:test";
import { approvalForm } from "./approval-form.ts";

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
  approvalForm({ ...question, input: { command }, ...more })?.message ?? assert.fail("there is no form");

test("a form counts line ends and other escapes, so that the beginning of a call stays in view", () => {
  const message = messageFor(`rm -rf ~${"\n".repeat(60)}${"\u000b".repeat(9)}# safe\n\nend`);
  assert.match(message, /"command": "rm -rf ~\[\\n\*60\]\[\\u000b\*9\]# safe\\n\\nend"/);
});

test("a backslash before an n is no line end", () => {
  assert.match(messageFor("\\n\\n\\n\\n"), /"command": "\\\\n\\\\n\\\\n\\\\n"/);
});

test("a form says what a person should know besides", () => {
  assert.match(messageFor("./x", { notes: ['"x" changed'] }), /^Note: "x" changed$/m);
});
