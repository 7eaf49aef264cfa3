import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { isKernelError, type JsonValue } from "@narthex/contracts";
import * as fc from "fast-check";
import { capabilityToJson } from "./capability-to-json.ts";
import { parseCapability } from "./parse-capability.ts";

function problemsOf(json: JsonValue): string[] {
  try {
    parseCapability(json, "capabilities[0]");
  } catch (error) {
    assert.ok(isKernelError(error));
    assert.equal(error.code, "LEASE_INVALID");
    assert.doesNotMatch(error.message, /[\r\n]/);
    return error.violations.map(({ field, rule }) => `${field} ${rule}`);
  }
  return [];
}

describe("refused", () => {
  const cases: [json: JsonValue, problem: string][] = [
    [null, "capabilities[0] format"],
    [[], "capabilities[0] format"],
    [{}, "capabilities[0].kind required"],
    [{ kind: "root" }, "capabilities[0].kind one_of"],
    [{ kind: "__proto__" }, "capabilities[0].kind one_of"],
    [{ kind: "fs_read" }, "capabilities[0].prefixes required"],
    [{ kind: "fs_read", prefixes: "/src" }, "capabilities[0].prefixes format"],
    [{ kind: "fs_read", prefixes: ["src"] }, "capabilities[0].prefixes[0] format"],
    [{ kind: "fs_read", prefixes: ["/a/../b"] }, "capabilities[0].prefixes[0] no_traversal"],
    [{ kind: "fs_read", prefixes: ["/a/."] }, "capabilities[0].prefixes[0] no_traversal"],
    [{ kind: "fs_read", prefixes: ["/a\\..\\b"] }, "capabilities[0].prefixes[0] no_traversal"],
    [{ kind: "fs_read", prefixes: ["/a//b"] }, "capabilities[0].prefixes[0] format"],
    [{ kind: "fs_read", prefixes: ["//"] }, "capabilities[0].prefixes[0] format"],
    [{ kind: "fs_read", prefixes: ["/a\0"] }, "capabilities[0].prefixes[0] no_nul"],
    [{ kind: "fs_read", prefixes: [`/${"a".repeat(4096)}`] }, "capabilities[0].prefixes[0] max_length"],
    [{ kind: "fs_read", prefixes: ["/\ud800"] }, "capabilities[0].prefixes[0] format"],
    [{ kind: "fs_read", prefixes: ["/*"], hosts: [] }, "capabilities[0].hosts unknown_field"],
    [{ kind: "clock", scope: "*" }, "capabilities[0].scope unknown_field"],
    [{ kind: "net_read", hosts: ["a.com"] }, "capabilities[0].hosts[0] format"],
    [{ kind: "net_read", hosts: [{ host: "" }] }, "capabilities[0].hosts[0].host required"],
    [{ kind: "net_read", hosts: [{ host: "a.com", ports: [] }] }, "capabilities[0].hosts[0].ports required"],
    [{ kind: "net_read", hosts: [{ host: "a.com", ports: [0] }] }, "capabilities[0].hosts[0].ports[0] range"],
    [{ kind: "net_read", hosts: [{ host: "a.com", ports: [65_536] }] }, "capabilities[0].hosts[0].ports[0] range"],
    [{ kind: "net_read", hosts: [{ host: "a.com", ports: ["443"] }] }, "capabilities[0].hosts[0].ports[0] format"],
    [{ kind: "exec", names: [""] }, "capabilities[0].names[0] required"],
    [{ kind: "exec", names: ["x".repeat(257)] }, "capabilities[0].names[0] max_length"],
    [{ kind: "exec", names: ["a\nb"] }, "capabilities[0].names[0] format"],
    [{ kind: "exec", names: ["a*"] }, "capabilities[0].names[0] format"],
    [{ kind: "exec", names: new Array(1001).fill("a") }, "capabilities[0].names max_items"],
    [{ kind: "inference", models: [{ provider: "p" }] }, "capabilities[0].models[0].model required"],
    [{ kind: "wasm_exec", max_fuel: -1, max_memory_bytes: 1 }, "capabilities[0].max_fuel range"],
    [{ kind: "wasm_exec", max_fuel: 0.5, max_memory_bytes: 1 }, "capabilities[0].max_fuel range"],
    [{ kind: "wasm_exec", max_fuel: 2 ** 53, max_memory_bytes: 1 }, "capabilities[0].max_fuel range"],
  ];
  for (const [json, problem] of cases) {
    test(JSON.stringify(json).slice(0, 80), () => assert.deepEqual(problemsOf(json), [problem]));
  }

  test("names every problem at once, with suggestions", () => {
    const json = {
      kind: "net_read",
      hosts: [
        { host: "a b", port: 1 },
        { host: "ok.com", ports: [0, 1, 70_000] },
      ],
    };
    assert.deepEqual(problemsOf(json), [
      "capabilities[0].hosts[0].port unknown_field",
      "capabilities[0].hosts[0].host format",
      "capabilities[0].hosts[1].ports[0] range",
      "capabilities[0].hosts[1].ports[2] range",
    ]);
    assert.throws(() => parseCapability(json, ""), /did you mean ports\?/);
  });

  test("quotes keys safely in messages, and reads no inherited property", () => {
    assert.deepEqual(problemsOf({ kind: "clock", "a\n`b": 1 }), ["capabilities[0].a\\u{a}\\u{60}b unknown_field"]);
    const json = JSON.parse('{"kind":"clock","__proto__":{"x":1}}') as JsonValue;
    assert.deepEqual(problemsOf(json), ["capabilities[0].__proto__ unknown_field"]);
  });
});

describe("normal form", () => {
  test("sorts scopes, removes repeats, lower-cases hosts and drops one trailing slash", () => {
    assert.deepEqual(parseCapability({ kind: "fs_read", prefixes: ["/b/", "/a", "/b", "/", "*"] }, ""), {
      kind: "fs_read",
      prefixes: ["*", "/", "/a", "/b"],
    });
    const hosts = [{ host: "B.COM", ports: [443, 80, 443] }, { host: "A.com" }, { host: "b.com", ports: [80, 443] }];
    assert.deepEqual(parseCapability({ kind: "net_write", hosts }, ""), {
      kind: "net_write",
      hosts: [{ host: "a.com" }, { host: "b.com", ports: [80, 443] }],
    });
  });

  test("an empty scope may be declared", () => {
    assert.deepEqual(parseCapability({ kind: "artifact", names: [] }, ""), { kind: "artifact", names: [] });
  });

  test("reads back its JSON form unchanged", () => {
    const all: JsonValue[] = [
      { kind: "fs_write", prefixes: ["/ä ö/x"] },
      { kind: "vault", prefixes: ["*"] },
      { kind: "net_read", hosts: [{ host: "*.a.com", ports: [443] }, { host: "::1" }] },
      { kind: "inference", models: [{ provider: "p", model: "*" }] },
      { kind: "wasm_exec", max_fuel: 1, max_memory_bytes: 0 },
      { kind: "clock" },
      ...["db_read", "db_write", "exec", "git", "artifact", "env_read", "mcp"].map((kind) => ({ kind, names: ["x"] })),
    ];
    for (const json of all) {
      const capability = parseCapability(json, "");
      assert.deepEqual(capabilityToJson(capability), json);
      assert.deepEqual(parseCapability(capabilityToJson(capability), ""), capability);
    }
  });

  test("parses any JSON or rejects it with LEASE_INVALID", () => {
    const scope = fc.array(fc.oneof(fc.string(), fc.jsonValue()));
    const shaped = fc.record({ kind: fc.constantFrom("fs_read", "net_read", "exec", "inference"), prefixes: scope });
    fc.assert(fc.property(fc.oneof(fc.jsonValue(), shaped), (json) => void problemsOf(json as JsonValue)));
  });
});
