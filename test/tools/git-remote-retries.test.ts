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

test("a session that goes on asking for a remote out of reach is refused each time, and stays open", {
  timeout: 120_000,
}, async () => {
  await at.git("REMOTE", ["add", "far", "https://example.org/x"], "repository");
  for (const [operation, args] of [
    ["FETCH", ["https://example.org/x"]],
    ["FETCH", ["far"]],
    ["FETCH", ["git@example.org:x.git"]],
    ["FETCH", ["ssh://example.org/x"]],
    ["FETCH", ["far"]],
    ["FETCH", ["far"]],
  ] as const) {
    const { response } = await at.session.call("git", { operation, args: [...args], cwd: "repository" });
    assert.equal(response.result.case === "error" && response.result.value.errorCode, "NETWORK_BLOCKED", operation);
  }
  assert.equal((await at.kernel.getSession(at.session.id))?.session.state, "open");
  assert.equal((await at.git("STATUS", [], "repository")).exitCode, 0);
});

test("one that goes on naming repositories outside of its workspace is quarantined", { timeout: 120_000 }, async () => {
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
