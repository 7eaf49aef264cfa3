import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import { claudeProtocol } from "./claude-protocol.ts";
import { cursorProtocol } from "./cursor-protocol.ts";
import { type HookVerdict, NO_RULE, type SubjectCall } from "./hook-call.ts";

const OWN = "/usr/bin/node /opt/narthex.js mcp --workspace /repository --agent cursor";

function claude(toolName: string, input: JsonObject) {
  const message = { hook_event_name: "PreToolUse", tool_name: toolName, tool_input: input, cwd: "/repository" };
  return claudeProtocol.toSubject(claudeProtocol.parseCall(message, {}), [OWN]);
}

function cursorCall(event: string, message: JsonObject) {
  return cursorProtocol.parseCall({ hook_event_name: event, workspace_roots: ["/repository"], ...message }, {});
}

function cursor(event: string, message: JsonObject) {
  return cursorProtocol.toSubject(cursorCall(event, message), [OWN]);
}

const verdict = (answer: HookVerdict["answer"]): HookVerdict => ({ answer, code: "", reason: "why", ruleIds: ["r"] });

describe("Claude Code's hook", () => {
  it("rejects a message with missing or mistyped fields as a call", () => {
    const good = { hook_event_name: "PreToolUse", tool_name: "Read", tool_input: {}, cwd: "/x" };
    for (const bad of [
      { ...good, hook_event_name: "PostToolUse" },
      { ...good, hook_event_name: 7 },
      { ...good, tool_name: ["Read"] },
      { ...good, tool_name: null },
      { ...good, tool_input: "x" },
      { ...good, tool_input: [] },
      { ...good, cwd: {} },
      {},
    ]) {
      assert.throws(() => claudeProtocol.parseCall(bad, {}), { name: "HookProblem" }, JSON.stringify(bad));
    }
  });

  it("rejects inputs of the wrong type instead of deciding something else", () => {
    const wrong: readonly (readonly [string, JsonObject])[] = [
      ["Bash", {}],
      ["Bash", { command: ["ls"] }],
      ["Read", { file_path: 1 }],
      ["Write", { content: "x" }],
      ["Write", { file_path: "a", content: { text: "x" } }],
      ["Edit", { file_path: "a", old_string: "x" }],
      ["MultiEdit", { file_path: "a", edits: "all" }],
      ["MultiEdit", { file_path: "a", edits: [] }],
      ["MultiEdit", { file_path: "a", edits: [1] }],
      ["Grep", { path: "." }],
      ["WebFetch", { url: null }],
    ];
    for (const [tool, input] of wrong) {
      assert.throws(() => claude(tool, input), { name: "HookProblem" }, `${tool} ${JSON.stringify(input)}`);
    }
  });

  it("maps each tool to the kernel's equivalent", () => {
    const known: readonly (readonly [string, JsonObject, readonly (readonly [string, JsonObject])[]])[] = [
      ["Bash", { command: "ls" }, [["shell_exec", { command: "ls" }]]],
      ["Read", { file_path: "/r/a" }, [["file_read", { path: "/r/a" }]]],
      ["Write", { file_path: "a", content: "x" }, [["file_write", { path: "a", content: "x" }]]],
      ["NotebookEdit", { notebook_path: "a", new_source: "x" }, [["file_write", { path: "a", content: "x" }]]],
      ["Edit", { file_path: "a", old_string: "x", new_string: "y" }, [edited("a", "x", "y")]],
      ["Edit", { file_path: "a", old_string: "", new_string: "y" }, [["file_write", { path: "a", content: "y" }]]],
      [
        "MultiEdit",
        {
          file_path: "a",
          edits: [
            { old_string: "1", new_string: "2" },
            { old_string: "3", new_string: "4" },
          ],
        },
        [edited("a", "1", "2"), edited("a", "3", "4")],
      ],
      ["Grep", { pattern: "x" }, [["file_search", { pattern: "x", path: "." }]]],
      ["Glob", { pattern: "**/*.ts", path: "src" }, [["file_list", { path: "src", recursive: true }]]],
      ["WebFetch", { url: "https://a" }, [["web_fetch", { url: "https://a" }]]],
      ["WebSearch", { query: "q" }, [["web_search", { query: "q" }]]],
    ];
    for (const [tool, input, expected] of known) {
      const subject = claude(tool, input);
      assert.equal(subject.kind, "calls");
      assert.deepEqual(subject.kind === "calls" && subject.calls.map(wholeCall), expected, tool);
    }
  });

  const pathsOf = (tool: string, input: JsonObject): unknown => {
    const subject = claude(tool, input);
    return subject.kind === "calls" ? subject.calls.map(({ path }) => path) : subject.kind;
  };

  it("checks where a pattern leads, not only its declared start", () => {
    for (const [pattern, paths] of [
      ["/etc/*", ["/etc/"]],
      ["/etc/**/pass*", ["/etc/"]],
      ["~/.ssh/*", ["~/.ssh/"]],
      [" /etc/passwd ", ["/etc/passwd"]],
      ["{/etc,{~,a}}/x*", ["~/", "src/a/", "/etc/"]],
      ["out/*", ["src/out/"]],
      ["**/*.{ts,test.ts}", ["src"]],
      ["...*/[jt].ts", ["src"]],
    ] as const) {
      assert.deepEqual([...(pathsOf("Glob", { pattern, path: "src" }) as string[])].sort(), [...paths].sort(), pattern);
    }
    assert.deepEqual(pathsOf("Glob", { pattern: "*", glob_pattern: "/etc/*" }), [".", "/etc/"]);
    assert.equal(pathsOf("Glob", { pattern: "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}" }), "unknown");
  });

  it("rejects a pattern that leads upwards, or could", () => {
    for (const pattern of [
      "../*/x",
      "src/../../*",
      "{..,**/*}",
      "{a,{b,..}}/x",
      "{.,a}./x",
      "[.][.]/x",
      ".[.]/x",
      "\\.\\./x",
      "@(..|a)/x",
      "@(/etc|a)/x",
      " ../x",
    ]) {
      assert.throws(() => claude("Glob", { pattern, path: "src" }), /leads upwards/, pattern);
    }
  });

  it("evaluates every path of an input, and asks about one under an unknown name", () => {
    assert.deepEqual(pathsOf("Grep", { pattern: "x", file_path: "a", path: "/etc" }), ["a", "/etc"]);
    assert.deepEqual(pathsOf("Read", { file_path: "a", notebook_path: "b" }), ["a", "b"]);
    assert.deepEqual(pathsOf("Read", { file_path: " /etc/passwd" }), [" /etc/passwd", "/etc/passwd"]);
    assert.deepEqual(pathsOf("Read", { file_path: "e\u0301" }), ["e\u0301", "\u00e9"]);
    assert.equal(pathsOf("Grep", { pattern: "x", path: "a", paths: ["/etc"] }), "unknown");
    assert.equal(pathsOf("Read", { file_path: "a", filePath: "/etc/passwd" }), "unknown");
    const one = { old_string: "1", new_string: "2" };
    assert.equal(pathsOf("MultiEdit", { file_path: "a", edits: [{ ...one, file_path: "/b" }] }), "unknown");
    assert.deepEqual(pathsOf("Edit", { file_path: "a", path: "b", ...one }), ["a", "b"]);
  });

  it("recognises its own server by name, and no similar name", () => {
    assert.equal(claude("mcp__narthex__shell_exec", {}).kind, "own");
    for (const name of ["mcp__narthex", "mcp__narthex2__x", "mcp__other__mcp__narthex__x", "narthex"]) {
      assert.equal(claude(name, {}).kind, "unknown", name);
    }
  });

  it("leaves resources of its own server to the kernel, and asks about those of others", () => {
    for (const tool of ["ReadMcpResourceTool", "ReadMcpResourceDirTool"]) {
      assert.equal(claude(tool, { server: "narthex", uri: "narthex://content/a" }).kind, "own");
      assert.equal(claude(tool, { server: "Narthex", uri: "narthex://content/a" }).kind, "unknown");
      assert.equal(claude(tool, { uri: "narthex://content/a" }).kind, "unknown");
    }
  });

  it("leaves calls without effects to the client, and asks about unknown ones", () => {
    for (const name of ["TodoWrite", "ReportFindings", "ListAgents", "ScheduleWakeup", "ListMcpResourcesTool"]) {
      assert.equal(claude(name, {}).kind, "harmless", name);
    }
    for (const name of ["Artifact", "SendFeedback", "RemoteTrigger", "Workflow", "CronCreate", "SendMessage"]) {
      assert.equal(claude(name, {}).kind, "unknown", name);
    }
    for (const name of ["PowerShell", "EnterWorktree", "run_in_terminal", "bash", "BASH", "", "__proto__"]) {
      assert.equal(claude(name, {}).kind, "unknown", name);
    }
    const edits = Array.from({ length: 51 }, () => ({ old_string: "a", new_string: "b" }));
    assert.equal(claude("MultiEdit", { file_path: "a", edits }).kind, "unknown");
  });

  it("responds in the client's format", () => {
    assert.deepEqual(claudeProtocol.encodeResponse(verdict("none"), undefined), {});
    const unexplained = claudeProtocol.encodeResponse({ ...verdict("allow"), reason: "" }, undefined);
    assert.match(JSON.stringify(unexplained), /"narthex: allowed \(r\)"/);
    for (const answer of ["allow", "ask", "deny"] as const) {
      assert.deepEqual(claudeProtocol.encodeResponse(verdict(answer), undefined), {
        hookSpecificOutput: {
          hookEventName: "PreToolUse",
          permissionDecision: answer,
          permissionDecisionReason: "narthex: why (r)",
        },
      });
    }
    const reasonOf = (given: HookVerdict) =>
      Object(claudeProtocol.encodeResponse(given, undefined)["hookSpecificOutput"])["permissionDecisionReason"];
    assert.equal(reasonOf({ ...verdict("allow"), reason: "" }), "narthex: allowed (r)");
    const unknown = { answer: "ask", code: "TOOL_NOT_FOUND", reason: NO_RULE, ruleIds: [] } as const;
    assert.equal(reasonOf(unknown), "narthex has no rule for this tool, so you are asked");
  });
});

describe("Cursor's hook", () => {
  it("accepts no other event as a request", () => {
    for (const event of ["stop", "afterFileEdit", "beforeSubmitPrompt", "sessionStart", "PreToolUse", ""]) {
      assert.throws(() => cursorCall(event, { tool_name: "Read" }), { name: "HookProblem" }, event);
    }
    assert.throws(() => cursorProtocol.parseCall({ hook_event_name: "beforeShellExecution", command: "ls" }, {}), {
      name: "HookProblem",
      message: /workspace_roots/,
    });
  });

  it("maps each event to the kernel's equivalent tool", () => {
    for (const [event, message, tool] of [
      ["beforeShellExecution", { command: "ls", cwd: "" }, "shell_exec"],
      ["beforeReadFile", { file_path: "/repository/a", content: "x" }, "file_read"],
      ["beforeTabFileRead", { file_path: "/repository/a", transcript_path: "/t" }, "file_read"],
      ["preToolUse", { tool_name: "Shell", tool_input: { command: "ls" } }, "shell_exec"],
      ["preToolUse", { tool_name: "Write", tool_input: { path: "a", contents: "x" } }, "file_write"],
      [
        "preToolUse",
        { tool_name: "StrReplace", tool_input: { path: "a", old_string: "x", new_string: "y" } },
        "file_edit",
      ],
      ["preToolUse", { tool_name: "Delete", tool_input: { path: "a" } }, "file_delete"],
      ["preToolUse", { tool_name: "Grep", tool_input: { pattern: "x", file_path: "src" } }, "file_search"],
    ] as const) {
      const subject = cursor(event, message);
      assert.equal(subject.kind === "calls" && subject.calls[0]?.tool, tool, `${event} ${tool}`);
    }
  });

  it("recognises its own server by the whole command that starts it", () => {
    const server = (command: string) => cursor("beforeMCPExecution", { tool_name: "echo", tool_input: "{}", command });
    assert.equal(server(OWN).kind, "own");
    for (const command of [`${OWN} --label x`, `evil ${OWN}`, `sh -c '${OWN}'`, "narthex mcp", ""]) {
      assert.equal(server(command).kind, "unknown", command);
    }
    assert.equal(cursor("beforeMCPExecution", { tool_name: "echo", url: "http://127.0.0.1" }).kind, "unknown");
  });

  it("denies where Cursor would treat an approval request as an approval", () => {
    const ask = verdict("ask");
    const shell = cursorCall("beforeShellExecution", { command: "x" });
    const early = cursorCall("preToolUse", { tool_name: "Shell", tool_input: { command: "x" } });
    const write = cursorCall("preToolUse", { tool_name: "Write", tool_input: { path: "x" } });
    const read = cursorCall("beforeReadFile", { file_path: "x" });
    const permissions = [shell, early, write, read, undefined].map(
      (call) => cursorProtocol.encodeResponse(ask, call)["permission"],
    );
    assert.deepEqual(permissions, ["ask", "ask", "deny", "deny", "deny"]);
    assert.deepEqual(cursorProtocol.encodeResponse(verdict("allow"), shell), { permission: "allow" });
    assert.deepEqual(cursorProtocol.encodeResponse(verdict("none"), shell), { permission: "allow" });
    const text = "narthex: why (r)";
    const refused = { permission: "deny", user_message: text, agent_message: text };
    assert.deepEqual(cursorProtocol.encodeResponse(verdict("deny"), shell), refused);
  });

  it("keeps the text of files out of its records", () => {
    assert.ok(!("content" in cursorCall("beforeReadFile", { file_path: "a", content: "secret" }).input));
  });
});

function wholeCall({ tool, input, path }: SubjectCall): readonly [string, JsonObject] {
  return [tool, { ...input, ...(path !== undefined && { path }) }];
}

function edited(path: string, before: string, after: string): readonly [string, JsonObject] {
  return ["file_edit", { path, old_content: before, new_content: after }];
}
