import assert from "node:assert/strict";
import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { create, KernelError, SessionInfoSchema } from "@narthex/contracts";
import type { CallExplanation, ExplainRequest, HookDecision } from "@narthex/kernel";
import type { KernelConnection } from "../connection/kernel-connection.ts";
import { handleHookCall } from "./handle-hook-call.ts";
import { claudeProtocol } from "./claude-protocol.ts";
import { cursorProtocol } from "./cursor-protocol.ts";

const ALLOWED: CallExplanation = { answer: "allow", code: "", message: "", missing: [], questions: [] };

describe("answerHook", () => {
  let workspace: string;
  before(async () => {
    workspace = await realpath(await mkdtemp(join(tmpdir(), "narthex-hook-")));
    await writeFile(join(workspace, "a.txt"), "");
    await mkdir(join(workspace, "src"));
    await symlink("/etc", join(workspace, "out"));
    await symlink(join(workspace, "gone"), join(workspace, "dangling"));
    await symlink("a.txt", join(workspace, "in"));
  });
  after(() => rm(workspace, { recursive: true, force: true }));

  /** A kernel of which only what a hook asks is there. */
  function kernelThat(
    explain: (question: ExplainRequest) => CallExplanation,
    recorded: HookDecision[] = [],
    sessions: readonly {
      readonly sessionId: string;
      readonly agent: string;
      readonly workspace: string;
      readonly openedAtMs: bigint;
    }[] = [],
  ): KernelConnection {
    const kernel: Partial<KernelConnection> = {
      explainCall: async (question) => explain(question),
      listSessions: async () => sessions.map((session) => create(SessionInfoSchema, session)),
      recordHookDecision: async (decision) => void recorded.push(decision),
    };
    return kernel as KernelConnection;
  }

  const ask = (kernel: KernelConnection, toolName: string, input: Record<string, string>) => {
    const message = {
      hook_event_name: "PreToolUse",
      tool_name: toolName,
      tool_input: input,
      cwd: join(workspace, "src"),
      session_id: "c",
    };
    const call = claudeProtocol.parseCall(message, {});
    return handleHookCall(kernel, { protocol: claudeProtocol, call, workspace, home: "/home/kernel" });
  };

  it("rejects paths outside of the workspace, whatever the rules", async () => {
    for (const path of [
      "/etc/passwd",
      "../../x",
      "~/.ssh/id_ed25519",
      "../out/passwd",
      "../dangling",
      "../out/not/there",
      "a\0b",
    ]) {
      const { answer, code } = await ask(
        kernelThat(() => assert.fail("nobody is asked")),
        "Read",
        { file_path: path },
      );
      assert.deepEqual([answer, code], ["deny", "PATH_ESCAPE"], path);
    }
  });

  it("evaluates the target of a link, and missing files", async () => {
    for (const [given, path] of [
      ["../in", "/workspace/a.txt"],
      [join(workspace, "in"), "/workspace/a.txt"],
      ["new/deep.txt", "/workspace/src/new/deep.txt"],
      ["..", "/workspace"],
    ] as const) {
      const asked: unknown[] = [];
      const kernel = kernelThat(({ input }) => {
        asked.push(input);
        return ALLOWED;
      });
      await ask(kernel, "Read", { file_path: given });
      assert.deepEqual(asked, [{ path }], given);
    }
  });

  it("does not mistake a host path for one inside because of a similar name", async () => {
    const { code } = await ask(
      kernelThat(() => ALLOWED),
      "Read",
      { file_path: "/workspace/a.txt" },
    );
    assert.equal(code, "PATH_ESCAPE");
  });

  it("lets the client read its own results of this conversation, and no other file beside them", async () => {
    const kept = join(workspace, "client");
    const results = join(kept, "c", "tool-results");
    await mkdir(join(results, "deeper"), { recursive: true });
    await mkdir(join(kept, "d", "tool-results"), { recursive: true });
    for (const name of ["c/tool-results/1.json", "c/tool-results/deeper/2", "d/tool-results/3", "c.jsonl"]) {
      await writeFile(join(kept, name), "");
    }
    await symlink("/etc/passwd", join(results, "link"));
    const decide = (tool_name: string, tool_input: Record<string, string>, session_id = "c") => {
      const where = { cwd: "/", transcript_path: join(kept, "c.jsonl"), session_id };
      const call = claudeProtocol.parseCall({ hook_event_name: "PreToolUse", tool_name, tool_input, ...where }, {});
      const elsewhere = join(workspace, "src");
      const kernel = kernelThat(() => assert.fail("no rule is asked"));
      return handleHookCall(kernel, { protocol: claudeProtocol, call, workspace: elsewhere, home: "/h" });
    };
    const file_path = join(results, "1.json");
    assert.equal((await decide("Read", { file_path })).answer, "none");
    assert.equal((await decide("Grep", { pattern: "x", path: file_path })).answer, "none");
    assert.equal((await decide("Write", { file_path, content: "" })).answer, "deny");
    assert.equal((await decide("Read", { file_path: join(kept, "d/tool-results/3") }, "../d")).answer, "deny");
    for (const name of ["link", "deeper/2", "../../d/tool-results/3", "../../c.jsonl", "missing", "."]) {
      assert.equal((await decide("Read", { file_path: join(results, name) })).answer, "deny", name);
    }
  });

  it("asks about commands that the rules allow only in a sandbox", async () => {
    const { answer, reason } = await ask(
      kernelThat(() => ALLOWED),
      "Bash",
      { command: "cat /etc/shadow" },
    );
    assert.equal(answer, "ask");
    assert.match(reason, /sandbox/);
  });

  it("asks if the kernel has no such tool, and denies on every other fault", async () => {
    const missing = kernelThat(() => {
      throw new KernelError("TOOL_NOT_FOUND", "there is no tool");
    });
    assert.equal((await ask(missing, "WebFetch", { url: "https://a" })).answer, "ask");
    const broken = kernelThat(() => {
      throw new KernelError("STORE_UNAVAILABLE", "full");
    });
    await assert.rejects(ask(broken, "Read", { file_path: "a" }), { code: "STORE_UNAVAILABLE" });
  });

  it("returns the strictest decision for several edits at once", async () => {
    const kernel = kernelThat(({ input }) => ({
      ...ALLOWED,
      answer: JSON.stringify(input).includes("secret") ? "deny" : "allow",
    }));
    const edits = [
      { old_string: "a", new_string: "b" },
      { old_string: "c", new_string: "secret" },
    ];
    const message = {
      hook_event_name: "PreToolUse",
      tool_name: "MultiEdit",
      tool_input: { file_path: "a", edits },
      cwd: workspace,
    };
    const call = claudeProtocol.parseCall(message, {});
    const verdict = await handleHookCall(kernel, { protocol: claudeProtocol, call, workspace, home: "/h" });
    assert.equal(verdict.answer, "deny");
  });

  it("asks in the session that the client's own server opened last", async () => {
    const asked: unknown[] = [];
    const kernel = kernelThat(
      ({ sessionId }) => {
        asked.push(sessionId);
        return ALLOWED;
      },
      [],
      [
        { sessionId: "old", agent: "claude-code", workspace, openedAtMs: 1n },
        { sessionId: "new", agent: "claude-code", workspace, openedAtMs: 3n },
        { sessionId: "other agent", agent: "cursor", workspace, openedAtMs: 4n },
        { sessionId: "elsewhere", agent: "claude-code", workspace: "/elsewhere", openedAtMs: 5n },
      ],
    );
    await ask(kernel, "Read", { file_path: "a" });
    assert.deepEqual(asked, ["new"]);
  });

  it("records every decision before it responds, and denies if that fails", async () => {
    const recorded: HookDecision[] = [];
    await ask(
      kernelThat(() => ALLOWED, recorded),
      "Write",
      { file_path: "a", content: "x" },
    );
    const [decision] = recorded;
    assert.deepEqual(
      [decision?.client, decision?.toolName, decision?.answer, decision?.decidedAs, decision?.conversation],
      ["claude", "Write", "allow", ["file_write"], "c"],
    );
    const kernel = {
      ...kernelThat(() => ALLOWED),
      recordHookDecision: () => Promise.reject(new Error("disk full")),
    };
    await assert.rejects(ask(kernel, "Read", { file_path: "a" }), /disk full/);
  });

  it("records once what Cursor asks twice, and a denial at once", async () => {
    const recorded: HookDecision[] = [];
    const run = (event: string, message: Record<string, unknown>, answer: "allow" | "deny") => {
      const whole = { hook_event_name: event, workspace_roots: [workspace], ...message } as Parameters<
        typeof cursorProtocol.parseCall
      >[0];
      const call = cursorProtocol.parseCall(whole, {});
      const kernel = kernelThat(() => ({ ...ALLOWED, answer }), recorded);
      return handleHookCall(kernel, { protocol: cursorProtocol, call, workspace, home: "/h" });
    };
    const shell = { tool_name: "Shell", tool_input: { command: "ls" } };
    await run("preToolUse", shell, "allow");
    assert.equal(recorded.length, 0);
    await run("beforeShellExecution", { command: "ls" }, "allow");
    await run("preToolUse", shell, "deny");
    assert.deepEqual(
      recorded.map(({ event, answer }) => [event, answer]),
      [
        ["beforeShellExecution", "ask"],
        ["preToolUse", "deny"],
      ],
    );
  });
});
