import assert from "node:assert/strict";
import { mkdir, rm, writeFile } from "node:fs/promises";
import { createServer } from "node:net";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import {
  createTestHome,
  ended,
  objectOf,
  parseObject,
  readLines,
  type Serving,
  type TestHome,
  textOf,
} from "./home.ts";

/** Claude Code's call of one of its own tools. */
function call(tool: string, input: JsonObject, more: JsonObject = {}): JsonObject {
  return { session_id: "c1", hook_event_name: "PreToolUse", tool_name: tool, tool_input: input, ...more };
}

describe("narthex hook", { concurrency: 2, timeout: 120_000 }, () => {
  let at: TestHome;
  let kernel: Serving;
  before(async () => {
    at = await createTestHome();
    await mkdir(join(at.workspace, ".git"));
    await writeFile(join(at.workspace, ".git/config"), "");
    kernel = await at.serve();
  });
  after(async () => {
    await kernel.stop();
    await at.remove();
  });

  const hook = (client: string) => ["hook", client, "--workspace", at.workspace];

  async function claude(message: JsonObject | string): Promise<{ readonly decision: string; readonly reason: string }> {
    const stdin = typeof message === "string" ? message : JSON.stringify({ cwd: at.workspace, ...message });
    const { code, stdout, stderr } = await at.run(hook("claude"), { stdin });
    assert.equal(code, 0, stderr);
    const answer = parseObject(stdout)["hookSpecificOutput"];
    if (answer === undefined) return { decision: "none", reason: "" };
    const { hookEventName, permissionDecision, permissionDecisionReason } = objectOf(answer);
    assert.equal(hookEventName, "PreToolUse");
    return { decision: textOf(permissionDecision), reason: textOf(permissionDecisionReason) };
  }

  async function cursor(message: JsonObject): Promise<JsonObject> {
    const whole = { conversation_id: "c2", workspace_roots: [at.workspace], ...message };
    const { code, stdout } = await at.run(hook("cursor"), { stdin: JSON.stringify(whole) });
    assert.equal(code, 0);
    return parseObject(stdout);
  }

  it("denies unreadable input with a reason", async () => {
    for (const [message, reason] of [
      ["", /not JSON/],
      ["[]", /no object/],
      ['{"tool_name": "Read", "tool_name": "TodoWrite"}', /not JSON/],
      [JSON.stringify(call("Read", { file_path: 1 }, { cwd: "/" })), /file_path/],
    ] as const) {
      const answer = await claude(message);
      assert.equal(answer.decision, "deny", message);
      assert.match(answer.reason, reason);
    }
  });

  it("rejects an endless message before reading all of it", async () => {
    const child = at.start(hook("claude"));
    const next = readLines(child);
    const chunk = Buffer.alloc(1024 * 1024, 0x20);
    const feed = setInterval(() => child.stdin.write(chunk), 1);
    const answer = objectOf(parseObject(await next())["hookSpecificOutput"]);
    clearInterval(feed);
    child.stdin.destroy();
    assert.equal(answer["permissionDecision"], "deny");
    assert.match(textOf(answer["permissionDecisionReason"]), /more than/);
    assert.equal(await ended(child), 0);
  });

  it("exits with 2, which blocks in every client, on a usage error", async () => {
    for (const args of [
      ["hook", "emacs"],
      ["hook", "claude", "--nonsense"],
    ]) {
      const { code, stdout } = await at.run(args, { stdin: JSON.stringify(call("Read", { file_path: "a" })) });
      assert.deepEqual([code, stdout], [2, ""], args.join(" "));
    }
  });

  it("decides the tools of Claude Code by the rules in force", async () => {
    const cases: readonly (readonly [string, JsonObject, string])[] = [
      ["Read", { file_path: join(at.workspace, "README.md") }, "allow"],
      ["Read", { file_path: "/etc/passwd" }, "deny"],
      ["Write", { file_path: "src/a.ts", content: "x" }, "allow"],
      ["Write", { file_path: ".git/config", content: "[core]" }, "deny"],
      ["Glob", { pattern: "/etc/*" }, "deny"],
      ["Glob", { pattern: "{..,**/*}" }, "deny"],
      ["Grep", { pattern: "x", file_path: "src", path: "/etc" }, "deny"],
      ["Bash", { command: "cat /etc/shadow" }, "ask"],
      // No host is given to sessions of this home.
      ["WebFetch", { url: "https://example.com" }, "deny"],
      ["NewTool", { anything: 1 }, "ask"],
      ["mcp__narthex__shell_exec", { command: "ls" }, "none"],
      ["ReadMcpResourceTool", { server: "narthex", uri: "narthex://content/x" }, "none"],
    ];
    const answers = await Promise.all(cases.map(([tool, input]) => claude(call(tool, input))));
    assert.deepEqual(
      answers.map(({ decision }, index) => [cases[index]?.[0], decision]),
      cases.map(([tool, , decision]) => [tool, decision]),
    );
    assert.equal(answers[0]?.reason, "narthex: allowed (read-workspace)");
    assert.equal(answers[9]?.reason, "narthex has no rule for this tool, so you are asked");
  });

  it("records each decision in the ledger as not contained, in the chain of the client's session", async () => {
    const opened = await at.ask(["session", "open", "--workspace", at.workspace, "--agent", "claude-code"]);
    await claude(call("Write", { file_path: ".git/hooks/pre-commit", content: "hunter2" }));
    const write = JSON.stringify({ path: ".git/config", content: "" });
    await at.run(["call", "file_write", write, "--session", textOf(opened["session_id"])]);
    // Others are decided on at the same time.
    const { stdout } = await at.run(["ledger", "list", "--limit", "100", "--session", textOf(opened["session_id"])]);
    assert.match(stdout, /claude's own Write, not contained: deny/);
    assert.match(stdout, /file_write@.*no rule permits it/);
    assert.doesNotMatch(stdout, /hunter2/);
    assert.equal((await at.run(["ledger", "verify"])).code, 0);
  });

  it("responds to Cursor in its own format", async () => {
    const shell = await cursor({ hook_event_name: "beforeShellExecution", command: "npm test", cwd: "" });
    assert.equal(shell["permission"], "ask");
    assert.match(textOf(shell["agent_message"]), /shell_exec/);
    const protectedFile = { tool_name: "Write", tool_input: { file_path: ".git/config", content: "" } };
    assert.equal((await cursor({ hook_event_name: "preToolUse", ...protectedFile }))["permission"], "deny");
    const file = { tool_name: "Write", tool_input: { file_path: "a.txt", content: "" } };
    assert.deepEqual(await cursor({ hook_event_name: "preToolUse", ...file }), { permission: "allow" });
    assert.equal((await cursor({ hook_event_name: "stop" }))["permission"], "deny");
  });
});

it("denies if no kernel can decide", { timeout: 90_000 }, async () => {
  const at = await createTestHome();
  try {
    const message = JSON.stringify({ ...call("Read", { file_path: "a" }), cwd: at.workspace });
    const decisionOf = async (...options: readonly string[]) => {
      const { code, stdout } = await at.run(["hook", "claude", ...options], { stdin: message });
      assert.equal(code, 0);
      return objectOf(parseObject(stdout)["hookSpecificOutput"]);
    };
    await writeFile(at.home, "no directory");
    assert.equal((await decisionOf())["permissionDecision"], "deny");
    await rm(at.home);
    // Somebody who takes connections and never answers.
    await mkdir(join(at.home, "run"), { recursive: true, mode: 0o700 });
    await writeFile(join(at.home, "run", "admin.token"), "x", { mode: 0o600 });
    const silent = createServer(() => undefined);
    const { services } = await socketsOf(at.home);
    await new Promise<void>((resolve) => silent.listen(services, resolve));
    const answer = await decisionOf("--deadline", "1s");
    silent.close();
    assert.equal(answer["permissionDecision"], "deny");
    assert.match(textOf(answer["permissionDecisionReason"]), /did not decide in time/);
  } finally {
    await at.remove();
  }
});

async function socketsOf(home: string) {
  const { findSocketPaths } = await import("@narthex/host/socket-paths");
  const { homePaths } = await import("@narthex/host/home-paths");
  return findSocketPaths(homePaths(home));
}
