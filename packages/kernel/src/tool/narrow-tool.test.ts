import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isKernelError } from "@narthex/contracts";
import { defineTool } from "./define-tool.ts";
import { narrowTool } from "./narrow-tool.ts";
import type { Narrowing, Tool } from "./tool.ts";

function git(narrow?: () => unknown): Tool {
  return {
    ...defineTool({ name: "git", description: "runs git", inputSchema: true, run: () => null }),
    effects: ["process_spawn", "fs_write", "net_write"],
    tier: "side_effecting",
    determinism: "external",
    ...(narrow && { narrow: narrow as () => Narrowing }),
  };
}

describe("narrowFor", () => {
  const widening: [string, unknown][] = [
    ["adds an effect", { effects: ["db_write"] }],
    ["adds an effect that does not exist", { effects: ["anything"] }],
    ["raises the tier", { tier: "privileged" }],
    ["names no tier", { tier: "none" }],
    ["loosens determinism", { determinism: "nondeterministic" }],
    ["names no determinism", { determinism: "" }],
    ["keeps a write in a read-only call", { tier: "read_only" }],
    ["keeps an effect in a pure call", { effects: ["process_spawn"], determinism: "pure" }],
  ];
  for (const [name, narrowing] of widening) {
    it(`rejects a narrowing that ${name}`, () => {
      assert.throws(
        () =>
          narrowTool(
            git(() => narrowing),
            null,
          ),
        (error) =>
          isKernelError(error) && error.code === "INVALID_DECLARATION" && /may only take away/.test(error.message),
      );
    });
  }

  it("reports a narrowing that throws as a fault, without its text", () => {
    assert.throws(
      () =>
        narrowTool(
          git(() => {
            throw new Error("secret");
          }),
          null,
        ),
      (error) => isKernelError(error) && error.code === "INVALID_DECLARATION" && !error.message.includes("secret"),
    );
  });

  it("is the declared maximum if the tool has no narrowing", () => {
    const expected = {
      effects: ["process_spawn", "fs_write", "net_write"],
      tier: "side_effecting",
      determinism: "external",
      action: "git",
      timeoutMs: 30_000,
      maxCpuMs: undefined,
    };
    assert.deepEqual(narrowTool(git(), null), expected);
    assert.deepEqual(
      narrowTool(
        git(() => ({})),
        null,
      ),
      expected,
    );
    assert.deepEqual(
      narrowTool(
        git(() => undefined),
        null,
      ),
      expected,
    );
  });

  it("removes what these arguments do not need", () => {
    assert.deepEqual(
      narrowTool(
        git(() => ({ effects: ["process_spawn"], tier: "read_only" })),
        null,
      ),
      {
        effects: ["process_spawn"],
        tier: "read_only",
        determinism: "external",
        action: "git",
        timeoutMs: 30_000,
        maxCpuMs: undefined,
      },
    );
    assert.equal(
      narrowTool(
        git(() => ({ effects: [], tier: "read_only", determinism: "pure" })),
        null,
      ).determinism,
      "pure",
    );
  });

  it("shortens the time-out, and rejects a longer one", () => {
    const asking = (timeoutMs: number) =>
      narrowTool(
        git(() => ({ timeoutMs })),
        null,
      ).timeoutMs;
    assert.equal(asking(5), 5);
    for (const timeoutMs of [0, -1, 1.5, Number.NaN]) {
      assert.throws(() => asking(timeoutMs), { code: "INVALID_DECLARATION" });
    }
    const { boundExcess } = narrowTool(
      git(() => ({ timeoutMs: 30_001 })),
      null,
    );
    assert.deepEqual(boundExcess, { bound: "timeout_ms", asked: 30_001, most: 30_000 });
  });

  it("accepts only an action that the tool declared", () => {
    const named = (action: string) =>
      narrowTool({ ...git(), actions: ["git_push"], action: () => action }, null).action;
    assert.equal(named("git_push"), "git_push");
    for (const action of ["push", "git", "git_log", "shell_exec"]) {
      assert.throws(() => named(action), { code: "INVALID_DECLARATION" }, action);
    }
  });
});
