import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkDeclaration } from "@narthex/kernel";
import { createTestKernel } from "@narthex/testkit";
import { builtinTools } from "./builtin-tools.ts";

describe("the built-in tools", () => {
  it("are sound declarations, all of version 1.0.0", async () => {
    // A kernel takes that for granted of them.
    for (const tool of builtinTools()) checkDeclaration(tool);
    const { kernel } = await createTestKernel({ tools: builtinTools() });
    const listed = kernel.listTools({ allVersions: true }).map(({ declaration }) => declaration);
    assert.deepEqual(
      listed.map(({ name, version, tier, determinism, effects }) => [name, version, tier, determinism, effects]),
      [
        ["artifact_get", "1.0.0", "read_only", "deterministic", []],
        ["artifact_publish", "1.0.0", "side_effecting", "deterministic", ["artifact"]],
        ["db_query", "1.0.0", "side_effecting", "deterministic", ["fs_read", "fs_write", "db_read", "db_write"]],
        ["echo", "1.0.0", "read_only", "pure", []],
        ["file_delete", "1.0.0", "side_effecting", "deterministic", ["fs_write"]],
        ["file_edit", "1.0.0", "side_effecting", "deterministic", ["fs_read", "fs_write"]],
        ["file_list", "1.0.0", "read_only", "deterministic", ["fs_read"]],
        ["file_move", "1.0.0", "side_effecting", "deterministic", ["fs_write"]],
        ["file_read", "1.0.0", "read_only", "deterministic", ["fs_read"]],
        ["file_search", "1.0.0", "read_only", "deterministic", ["fs_read"]],
        ["file_write", "1.0.0", "side_effecting", "deterministic", ["fs_write"]],
        ["git", "1.0.0", "privileged", "nondeterministic", ["process_spawn", "fs_read", "fs_write"]],
        ["hash", "1.0.0", "read_only", "pure", []],
        ["read_file", "1.0.0", "read_only", "deterministic", ["fs_read"]],
        ["result_read", "1.0.0", "read_only", "pure", []],
        ["shell_exec", "1.0.0", "privileged", "nondeterministic", ["fs_read", "fs_write", "process_spawn"]],
        ["shell_input", "1.0.0", "privileged", "nondeterministic", ["fs_read", "fs_write", "process_spawn"]],
        ["shell_kill", "1.0.0", "privileged", "nondeterministic", ["fs_read", "fs_write", "process_spawn"]],
        ["shell_output", "1.0.0", "privileged", "nondeterministic", ["fs_read", "fs_write", "process_spawn"]],
        ["shell_spawn", "1.0.0", "privileged", "nondeterministic", ["fs_read", "fs_write", "process_spawn"]],
        ["vault_copyto", "1.0.0", "side_effecting", "deterministic", ["fs_read", "fs_write"]],
      ],
    );
    await kernel.close();
  });

  it("have no combinator at the top of their input, which model providers refuse", () => {
    for (const { name, inputSchema } of builtinTools()) {
      assert.ok(typeof inputSchema === "object", name);
      for (const keyword of ["oneOf", "anyOf", "allOf"]) assert.ok(!Object.hasOwn(inputSchema, keyword), name);
    }
  });
});
