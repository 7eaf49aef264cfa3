import assert from "node:assert/strict";
import { existsSync } from "node:fs";
import { after, before, describe, it } from "node:test";
import type { Capability } from "@narthex/kernel";
import type { SocketSession } from "../doors/socket-kernel.ts";
import { codeOf, createFileKernel, type FileKernel } from "./file-kernel.ts";

const text = '@id("shell") @approve("none") permit(principal, action == Action::"shell_exec", resource);';

describe("a lease that names programs", { timeout: 120_000 }, () => {
  let at: FileKernel;
  let session: SocketSession;
  before(async () => {
    at = await createFileKernel({ policies: [{ name: "shell.cedar", text }] });
    const capabilities: readonly Capability[] = [
      { kind: "exec", names: ["echo", "cat"] },
      { kind: "fs_read", prefixes: [at.workspace] },
      { kind: "fs_write", prefixes: [at.workspace] },
    ];
    session = await at.kernel.session({ workspace: at.workspace, lease: { capabilities } });
  });
  after(() => at[Symbol.asyncDispose]());

  for (const command of [
    "touch made",
    "echo on && touch made",
    "echo on | tee made",
    "echo $(touch made)",
    "echo on; `echo touch` made",
    "env touch made",
    "/usr/bin/touch made",
    "x=touch; $x made",
    "bash -c 'touch made'",
    "echo 'unfinished",
  ]) {
    it(`permits no other program, even one that only appears at run time: ${command}`, async () => {
      const { response } = await session.call("shell_exec", { command });
      assert.equal(codeOf(response.result), "CAPABILITY_MISSING");
      assert.ok(!existsSync(at.at("made")));
    });
  }

  it("permits the named programs", async () => {
    for (const command of ["echo on", "echo on | cat", "cat < /dev/null && echo on"]) {
      const { response } = await session.call("shell_exec", { command });
      assert.equal(response.result.case, "success", command);
    }
  });
});
