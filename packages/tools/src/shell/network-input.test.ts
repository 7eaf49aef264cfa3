import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isKernelError, type JsonObject } from "@narthex/contracts";
import { createTestKernel } from "@narthex/testkit";
import { commandScope } from "./approval-scope.ts";
import { networkEffects, networkCapabilities, parseHostPattern } from "./network-input.ts";
import { shellExec } from "./shell-exec.ts";

const STANDARD = [443, 80];

describe("a place that a command names", () => {
  it("is refused unless it is one host, with one port or none", () => {
    const refused = [
      ["", "*", "*.a.test", "a.*", ":443", "a.test:", "a.test:0", "a.test:080", "a.test:65536", "a.test:99999999999"],
      ["a.test:443:443", "https://a.test", "a.test/x", "user@a.test", "a b", "a..test", "-a.test", "a.test\0.b.test"],
      ["127.1", "0x7f.0.0.1", "2130706433", "1.2.3.256", "::1", "[::1", "::1]", "[]", "[::1]x", "[:::]", "bücher.test"],
    ];
    for (const text of refused.flat()) {
      assert.throws(
        () => parseHostPattern(text, STANDARD),
        (fault) => isKernelError(fault) && fault.code === "INVALID_INPUT" && fault.violations[0]?.field === "$.hosts",
        text,
      );
    }
  });

  it("is read in its one spelling", () => {
    assert.deepEqual(parseHostPattern("A.Test", STANDARD), { host: "a.test", ports: STANDARD });
    assert.deepEqual(parseHostPattern("a.test", [443]), { host: "a.test", ports: [443] });
    assert.deepEqual(parseHostPattern("a.test:65535", STANDARD), { host: "a.test", ports: [65_535] });
    assert.deepEqual(parseHostPattern("127.0.0.1:8080", STANDARD), { host: "127.0.0.1", ports: [8080] });
    assert.deepEqual(parseHostPattern("[0:0:0:0:0:0:0:1]", STANDARD), { host: "::1", ports: STANDARD });
    assert.deepEqual(parseHostPattern("[::1]:8080", STANDARD), { host: "::1", ports: [8080] });
  });
});

describe("a command", () => {
  it("has no effect on the network that it did not ask for", () => {
    for (const input of [{}, { network_access: false }, { network_read_only: true }, { hosts: ["a.test"] }]) {
      assert.deepEqual([networkEffects(input), networkCapabilities(input)], [[], []]);
    }
    assert.deepEqual(networkEffects({ network_access: true }), ["net_read", "net_write"]);
    assert.deepEqual(networkEffects({ network_access: true, network_read_only: true }), ["net_read"]);
  });

  it("needs a right over each host that it names", () => {
    const hosts = ["a.test", "b.test:8080"];
    const named = [
      { host: "a.test", ports: [443, 80] },
      { host: "b.test", ports: [8080] },
    ];
    assert.deepEqual(networkCapabilities({ network_access: true, hosts }), [{ kind: "net_write", hosts: named }]);
    assert.deepEqual(networkCapabilities({ network_access: true, network_read_only: true, hosts }), [
      { kind: "net_read", hosts: named },
    ]);
    assert.deepEqual(networkCapabilities({ network_access: true, hosts: [] }), []);
  });

  it("is rejected for an invalid host, whether it asks for the network or not", async () => {
    const { kernel, open } = await createTestKernel({ tools: [shellExec] });
    const session = await open();
    const codeOf = async (input: JsonObject): Promise<unknown> => {
      const { result } = (await session.call("shell_exec", { command: "true", ...input })).response;
      return result.case === "error" ? result.value.errorCode : result.case;
    };
    assert.equal(await codeOf({ network_access: true, hosts: ["*"] }), "INVALID_INPUT");
    assert.equal(await codeOf({ hosts: ["*"] }), "INVALID_INPUT");
    assert.equal(await codeOf({ network_access: true, hosts: Array.from({ length: 51 }, () => "a") }), "INVALID_INPUT");
    await kernel.close();
  });

  it("that names hosts is approved for these hosts only", () => {
    const session = { workspace: "/w", workingDirectory: "/w" } as Parameters<typeof commandScope>[1];
    assert.notEqual(commandScope({ command: "ls src", network_access: true }, session), undefined);
    assert.equal(commandScope({ command: "ls src", network_access: true, hosts: ["a.test"] }, session), undefined);
  });
});
