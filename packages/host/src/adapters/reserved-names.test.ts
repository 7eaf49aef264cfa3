import assert from "node:assert/strict";
import { it } from "node:test";
import { defineTool } from "@narthex/kernel";
import { reservedNameProblem } from "./reserved-names.ts";

const ECHO = defineTool({ name: "echo", description: "Says it again.", inputSchema: true, run: () => null });
const GIT = { ...ECHO, name: "git", actions: ["git_status"], action: () => "git_status" };

it("names of built-in tools, of their operations, of other actions and of servers' tools are taken", () => {
  for (const name of [
    "echo",
    "git",
    "git_status",
    "git_anything",
    "write_protected",
    "notes__list",
    "a__",
    "echo__b",
  ]) {
    assert.notEqual(reservedNameProblem(name, [ECHO, GIT]), undefined, name);
  }
  for (const name of ["echoes", "gitter", "echo_two", "notes_list"]) {
    assert.equal(reservedNameProblem(name, [ECHO, GIT]), undefined, name);
  }
});
