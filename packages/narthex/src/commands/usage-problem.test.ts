import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { COMMAND_TREE } from "./command-tree.ts";
import { usageProblem } from "./usage-problem.ts";

describe("usageProblem", () => {
  it("suggests the nearest name", () => {
    const problem = usageProblem(
      "error: unknown command 'cal'\n(Did you mean one of call, cas?)",
      ["cal"],
      COMMAND_TREE,
    );
    assert.equal(problem.message, "unknown command `cal`; did you mean one of `call, cas`?");
    assert.equal(problem.next, "run `narthex --help`");
    assert.equal(problem.exitCode, 2);
  });

  it("points at the help of the command that was typed", () => {
    const argv = ["--json", "session", "open", "--worspace", "x"];
    const problem = usageProblem("error: unknown option '--worspace'\n(Did you mean --workspace?)", argv, COMMAND_TREE);
    assert.equal(problem.message, "unknown option `--worspace`; did you mean `--workspace`?");
    assert.equal(problem.next, "run `narthex session open --help`");
  });
});
