import assert from "node:assert/strict";
import { homedir } from "node:os";
import { join } from "node:path";
import { describe, it } from "node:test";
import { createPaint } from "../terminal/paint.ts";
import { printUnsafe } from "./doctor-view.ts";

function printed(workspace: string, home = join(homedir(), ".narthex")): string | undefined {
  const lines: string[] = [];
  const print = (...some: readonly string[]): void => void lines.push(...some);
  const unsafe = [{ workspace, problem: "`.env` (EACCES)" }];
  printUnsafe(unsafe, { program: "narthex", home }, { paint: createPaint({}, {}), print });
  return lines.at(-1);
}

describe("doctor's output for an unsafe workspace", () => {
  it("ends with a correctly quoted shell command, whatever the workspace's name", () => {
    assert.equal(printed("/w/project"), "narthex doctor --accept /w/project");
    assert.equal(printed("/w/a;id $(id) 'b"), "narthex doctor --accept '/w/a;id $(id) '\\''b'");
    assert.equal(printed("/w/a\u001b[2J"), "narthex doctor --accept '/w/a\\u001b[2J'");
    assert.equal(printed(""), "narthex doctor --accept WORKSPACE");
  });

  it("names the home if it is not the default", () => {
    assert.equal(printed("/w/p", "/other home"), "narthex doctor --accept /w/p --data '/other home'");
  });
});
