import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { checkDeclaration } from "@narthex/kernel";
import { createTestKernel } from "@narthex/testkit";
import { BUILTIN_NAMES } from "./builtin-name.ts";
import { type BuiltinProviders, builtinTools } from "./builtin-tools.ts";

const NETWORK = ["net_read", "net_write"];
const PROCESS = ["fs_read", "fs_write", "process_spawn"];
const PROVIDERS: BuiltinProviders = {
  search: [{ name: "own", kind: "searxng", baseUrl: "https://search.example" }],
  inference: [
    {
      name: "local",
      format: "openai",
      baseUrl: "http://127.0.0.1:11434/v1",
      models: [],
      defaultPrice: { inputPricePerMillion: 0, outputPricePerMillion: 0 },
    },
  ],
};

describe("the built-in tools", () => {
  it("are those that the compiler knows by name", () => {
    assert.deepEqual(
      builtinTools(PROVIDERS).map(({ name }) => name),
      BUILTIN_NAMES,
    );
  });

  it("are sound declarations, all of version 1.0.0", async () => {
    // A kernel takes that for granted of them.
    for (const tool of builtinTools(PROVIDERS)) checkDeclaration(tool);
    const { kernel } = await createTestKernel({ tools: builtinTools(PROVIDERS) });
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
        ["git", "1.0.0", "privileged", "nondeterministic", ["process_spawn", "fs_read", "fs_write", ...NETWORK]],
        ["hash", "1.0.0", "read_only", "pure", []],
        ["http_fetch", "1.0.0", "side_effecting", "external", NETWORK],
        ["inference", "1.0.0", "side_effecting", "nondeterministic", ["inference"]],
        ["read_file", "1.0.0", "read_only", "deterministic", ["fs_read"]],
        ["result_read", "1.0.0", "read_only", "pure", []],
        ["shell_exec", "1.0.0", "privileged", "nondeterministic", [...PROCESS, ...NETWORK]],
        ["shell_input", "1.0.0", "privileged", "nondeterministic", PROCESS],
        ["shell_kill", "1.0.0", "privileged", "nondeterministic", PROCESS],
        ["shell_output", "1.0.0", "privileged", "nondeterministic", PROCESS],
        ["shell_spawn", "1.0.0", "privileged", "nondeterministic", PROCESS],
        ["vault_copyto", "1.0.0", "side_effecting", "deterministic", ["fs_read", "fs_write"]],
        ["web_fetch", "1.0.0", "side_effecting", "external", ["net_read"]],
        ["web_search", "1.0.0", "side_effecting", "external", ["net_read"]],
      ],
    );
    await kernel.close();
  });

  it("include no inference tool unless a provider is configured", () => {
    const added = (providers: BuiltinProviders): string[] => {
      const usual = new Set(builtinTools().map(({ name }) => name));
      return builtinTools(providers).flatMap(({ name }) => (usual.has(name) ? [] : [name]));
    };
    assert.deepEqual([added({}), added({ search: [], inference: [] })], [[], []]);
    assert.deepEqual(added(PROVIDERS), ["inference", "web_search"]);
  });

  it("have no combinator at the top of their input, which model providers refuse", () => {
    for (const { name, inputSchema } of builtinTools(PROVIDERS)) {
      assert.ok(typeof inputSchema === "object", name);
      for (const keyword of ["oneOf", "anyOf", "allOf"]) assert.ok(!Object.hasOwn(inputSchema, keyword), name);
    }
  });
});
