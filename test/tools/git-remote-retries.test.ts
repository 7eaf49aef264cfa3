import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { type GitKernel, openGitKernel } from "./git-kernel.ts";

let at: GitKernel;
before(async () => {
  at = await openGitKernel();
  at.host("", "init", "-q", "repository");
  at.own();
});
after(() => at.close());

test("a session that keeps requesting an unreachable remote is denied each time, and stays open", {
  timeout: 120_000,
}, async () => {
  await at.git("REMOTE", ["add", "far", "https://example.org/x"], "repository");
  const fetch = async (address: string) =>
    (await at.session.call("git", { operation: "FETCH", args: [address], cwd: "repository" })).response.result;
  for (const address of ["https://example.org/x", "git@example.org:x.git", "ssh://example.org/x"]) {
    const result = await fetch(address);
    assert.equal(result.case === "denied" && result.value.rationaleCode, "CAPABILITY_MISSING", address);
  }
  for (let again = 0; again < 6; again++) {
    const result = await fetch("far");
    assert.equal(result.case === "error" && result.value.errorCode, "NETWORK_BLOCKED");
  }
  assert.equal((await at.kernel.getSession(at.session.id))?.session.state, "open");
  assert.equal((await at.git("STATUS", [], "repository")).exitCode, 0);
});

test("a session that keeps naming repositories outside of its workspace is quarantined", {
  timeout: 120_000,
}, async () => {
  const session = await at.kernel.session({ workspace: at.workspace });
  const ask = async () =>
    (await session.call("git", { operation: "FETCH", args: [at.root], cwd: "repository" })).response;
  for (let i = 0; i < 5; i++) {
    const { result } = await ask();
    assert.equal(result.case === "error" && result.value.errorCode, "PATH_ESCAPE");
  }
  const { result } = await ask();
  assert.equal(result.case === "denied" && result.value.rationaleCode, "SESSION_QUARANTINED");
});
