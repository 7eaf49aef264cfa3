import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { equalBytes, isKernelError } from "@narthex/contracts";
import { defineTool } from "../tool/define-tool.ts";
import { definitionHash } from "../tool/definition-hash.ts";
import type { Tool } from "../tool/tool.ts";
import { markPrevalidated } from "../tool/prevalidated-tools.ts";
import { createRegistry } from "./registry.ts";

function tool(name: string, version = "1.0.0"): Tool {
  return defineTool({
    name,
    version,
    description: "does something",
    inputSchema: { type: "object", properties: { n: { type: "number", default: 1 } }, required: ["n"] },
    run: () => version,
  });
}

const hasCode = (code: string) => (error: unknown) => isKernelError(error) && error.code === code;

describe("registering", () => {
  it("rejects the same name and version twice, even with the same definition", () => {
    const registry = createRegistry();
    registry.register(tool("echo"));
    assert.throws(() => registry.register(tool("echo")), hasCode("ALREADY_REGISTERED"));
    assert.equal(registry.list({ allVersions: true }).length, 1);
  });

  it("rejects a contradictory declaration, and keeps nothing of it", () => {
    const registry = createRegistry();
    assert.throws(() => registry.register({ ...tool("echo"), price: -1 }), hasCode("INVALID_DECLARATION"));
    assert.equal(registry.resolve("echo", ""), undefined);
    registry.register(tool("echo"));
  });

  it("rejects names that differ only by case or by confusable characters", () => {
    const registry = createRegistry();
    registry.register(tool("echo"));
    for (const name of ["Echo", "ECHO", "еcho", "echo ", "ｅcho", "e\u200bcho", "", "a/b", "..", "a".repeat(10_000)]) {
      assert.throws(() => registry.register(tool(name)), hasCode("INVALID_DECLARATION"), name.slice(0, 20));
      assert.equal(registry.resolve(name, ""), undefined);
    }
  });

  it("prepares everything that a call needs", () => {
    const registered = createRegistry().register(tool("echo"));
    assert.equal(registered.id, "echo@1.0.0");
    assert.equal(registered.state, "ready");
    assert.ok(equalBytes(registered.definitionHash, definitionHash(tool("echo"))));
    assert.deepEqual(registered.inputSchema.check(registered.inputSchema.applyDefaults({})), []);
    assert.equal(registered.inputSchema.check({}).length, 1);
    assert.equal(registered.outputSchema, undefined);
  });

  it("compiles the schemas of a prevalidated tool on first use, and those of a copy at once", () => {
    const unsound = { ...tool("late"), inputSchema: { type: "nothing" } };
    markPrevalidated([unsound]);
    const registered = createRegistry().register(unsound);
    assert.throws(() => registered.inputSchema, hasCode("INVALID_DECLARATION"));
    assert.throws(() => createRegistry().register({ ...unsound }), hasCode("INVALID_DECLARATION"));
  });

  it("is not affected by later changes to the registered object", () => {
    const original = { ...tool("echo"), effects: [] as string[], bounds: { timeoutMs: 1, maxOutputBytes: 1 } };
    const registered = createRegistry().register(original as unknown as Tool);
    original.effects.push("fs_write");
    original.bounds.timeoutMs = 99;
    original.price = 0;
    assert.deepEqual(registered.tool.effects, []);
    assert.equal(registered.tool.bounds.timeoutMs, 1);
    assert.equal(registered.tool.price, 1);
    assert.throws(() => Object.assign(registered.tool, { tier: "read_only" }), TypeError);
    assert.throws(() => Object.assign(registered.tool.bounds, { timeoutMs: 2 }), TypeError);
    assert.throws(() => Object.assign(registered, { state: "disabled" }), TypeError);
  });
});

describe("resolving", () => {
  it("finds nothing by the names of inherited properties", () => {
    const registry = createRegistry();
    for (const name of ["__proto__", "constructor", "toString"]) {
      assert.equal(registry.resolve(name, ""), undefined);
      assert.equal(registry.resolve(name, "1.0.0"), undefined);
    }
    registry.register(tool("echo"));
    assert.equal(registry.resolve("echo", "constructor"), undefined);
    assert.equal(registry.resolve("echo", "__proto__"), undefined);
  });

  it("returns the highest release if no version is given, in any order of registration", () => {
    const registry = createRegistry();
    for (const version of ["1.9.0", "1.10.0", "2.0.0-rc.1", "1.2.0"]) registry.register(tool("echo", version));
    assert.equal(registry.resolve("echo", "")?.id, "echo@1.10.0");
  });

  it("returns a prerelease only if it is requested", () => {
    const registry = createRegistry();
    registry.register(tool("echo", "1.0.0-beta"));
    assert.equal(registry.resolve("echo", ""), undefined);
    assert.equal(registry.resolve("echo", "1.0.0-beta")?.id, "echo@1.0.0-beta");
  });

  it("accepts a version exactly as it was registered", () => {
    const registry = createRegistry();
    registry.register(tool("echo", "1.0.0"));
    for (const version of ["1", "1.0", "v1.0.0", "^1.0.0", "1.0.0 ", "latest", "1.0.1"]) {
      assert.equal(registry.resolve("echo", version), undefined, version);
    }
    assert.equal(registry.resolve("echo", "1.0.0")?.id, "echo@1.0.0");
  });
});

describe("listing", () => {
  it("is sorted by name and version, newest releases only unless asked", () => {
    const registry = createRegistry();
    registry.register(tool("zebra"));
    for (const version of ["2.0.0", "1.10.0", "1.9.0", "3.0.0-a"]) registry.register(tool("apple", version));
    registry.register(tool("only_beta", "1.0.0-beta"));
    const ids = (allVersions: boolean) => registry.list({ allVersions }).map(({ id }) => id);
    assert.deepEqual(ids(false), ["apple@2.0.0", "zebra@1.0.0"]);
    assert.deepEqual(ids(true), [
      "apple@1.9.0",
      "apple@1.10.0",
      "apple@2.0.0",
      "apple@3.0.0-a",
      "only_beta@1.0.0-beta",
      "zebra@1.0.0",
    ]);
  });
});

describe("quarantine", () => {
  it("is rejected for an unknown tool", () => {
    assert.throws(() => createRegistry().quarantine("echo", "1.0.0", new Uint8Array(32)), hasCode("TOOL_NOT_FOUND"));
  });

  it("applies to that version, and never falls back to an older one", () => {
    const registry = createRegistry();
    registry.register(tool("echo", "1.0.0"));
    const before = registry.register(tool("echo", "2.0.0"));
    const found = new Uint8Array(32).fill(7);
    registry.quarantine("echo", "2.0.0", found);
    assert.equal(registry.resolve("echo", "")?.id, "echo@2.0.0");
    assert.equal(registry.resolve("echo", "")?.state, "quarantined");
    assert.deepEqual(registry.resolve("echo", "2.0.0")?.foundHash, found);
    assert.equal(registry.resolve("echo", "1.0.0")?.state, "ready");
    assert.equal(before.state, "ready");
  });
});
