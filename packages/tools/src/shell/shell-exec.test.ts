import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import type { Tool, ToolContext } from "@narthex/kernel";
import { shellExec } from "./shell-exec.ts";

/** Runs the tool with a shell that only says what it was asked for. */
async function ranWith(input: JsonObject): Promise<JsonObject> {
  const tool: Tool = shellExec;
  let asked: JsonObject = {};
  const context = {
    session: { workspace: "/w", workingDirectory: "/w/sub" },
    shell: {
      run: (command: JsonObject) => {
        asked = command;
        return Promise.reject(new Error("far enough"));
      },
    },
  } as unknown as ToolContext;
  await assert.rejects(async () => tool.run(input, context), /far enough/);
  return asked;
}

test("a time-out of 0, or none, is a minute, and the call's own time ends after it", async () => {
  for (const input of [{ command: "true" }, { command: "true", timeout_ms: 0 }]) {
    assert.equal((await ranWith(input))["timeoutMs"], 60_000);
    assert.deepEqual(shellExec.narrow?.(input), {
      effects: ["fs_read", "fs_write", "process_spawn"],
      timeoutMs: 70_000,
    });
  }
  assert.equal((await ranWith({ command: "true", timeout_ms: 5 }))["timeoutMs"], 5);
});

test("an empty directory, or none, is the session's working directory", async () => {
  for (const input of [{ command: "true" }, { command: "true", cwd: "" }]) {
    const { workingDirectory, startDirectory } = await ranWith(input);
    assert.deepEqual([workingDirectory, startDirectory], [undefined, "sub"]);
  }
  assert.equal((await ranWith({ command: "true", cwd: "deeper" }))["workingDirectory"], "sub/deeper");
});

test("values of the environment may hold any number of equals signs", async () => {
  assert.deepEqual((await ranWith({ command: "env", env: { A: "b=c=d" } }))["environment"], { A: "b=c=d" });
});
