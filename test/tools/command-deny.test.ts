import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import { createFileKernel, type FileKernel } from "./file-kernel.ts";

const PERMIT = '@id("any-command") @approve("none") permit(principal, action == Action::"shell_exec", resource);\n';
const FORBID = `@id("no-rm") @rationale("KEEP_FILES") forbid(principal, action == Action::"shell_exec", resource)
when { context.programs.contains("rm") || context.programs.contains("*") };\n`;
const NO_NETWORK = `@id("no-network") forbid(principal, action == Action::"shell_exec", resource)
when { context.command.network };\n`;

for (const [order, text] of [
  ["before", PERMIT + FORBID + NO_NETWORK],
  ["after", NO_NETWORK + FORBID + PERMIT],
] as const) {
  describe(`a rule that permits every command ${order} one that forbids a program`, { timeout: 120_000 }, () => {
    let at: FileKernel;
    before(async () => {
      at = await createFileKernel({ policies: [{ name: "commands.cedar", text }] });
      await at.put("kept", "text");
    });
    after(() => at[Symbol.asyncDispose]());

    it("is overridden by it wherever the program occurs, and where it cannot be determined", async () => {
      for (const command of [
        "rm kept",
        "ls && rm kept",
        "ls | xargs rm",
        "(rm kept)",
        "if true; then rm kept; fi",
        "env -i rm kept",
        "$(echo rm) kept",
        "r=rm; $r kept",
      ]) {
        const { response } = await at.session.call("shell_exec", { command });
        assert.ok(response.result.case === "denied", `${command}: ${response.result.case}`);
        const { ruleId, rationaleCode } = response.result.value;
        assert.deepEqual([ruleId, rationaleCode], ["no-rm", "KEEP_FILES"], command);
        assert.ok(existsSync(at.at("kept")), command);
      }
    });

    it("is overridden by a rule that denies the network to a command that asked for it", async () => {
      const hosts = [{ host: "example.com" }];
      const capabilities = [
        { kind: "fs_read", prefixes: [at.workspace] },
        { kind: "fs_write", prefixes: [at.workspace] },
        { kind: "exec", names: ["*"] },
        { kind: "net_read", hosts },
        { kind: "net_write", hosts },
      ] as const;
      const session = await at.kernel.session({ workspace: at.workspace, lease: { capabilities } });
      const { response } = await session.call("shell_exec", { command: "ls", network_access: true });
      assert.ok(response.result.case === "denied", response.result.case);
      assert.equal(response.result.value.ruleId, "no-network");
    });

    it("permits all other commands", async () => {
      assert.equal((await at.session.call("shell_exec", { command: "ls && cat kept" })).status, "success");
    });
  });
}
