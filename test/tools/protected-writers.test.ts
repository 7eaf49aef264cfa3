import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { chown, lchown, lstat, mkdir, readdir, readFile, rm, writeFile } from "node:fs/promises";
import { dirname, join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import type { SocketSession } from "../doors/socket-kernel.ts";
import { permits, publishedServer } from "./mcp-kernel.ts";
import { createProgramHome, type ProgramHome } from "./program-home.ts";
import { MANY_VIOLATIONS } from "./vault-kernel.ts";

const OWNER = process.getuid?.() === 0 ? 1000 : undefined;
const RULES = permits(
  "shell_exec",
  "shell_spawn",
  "vault_copyto",
  "db_query_write",
  "git_checkout",
  "files__write_file",
);

/** One path of each kind that is there, and one that is not. */
const PATHS: Readonly<Record<string, { readonly existing: string; readonly absent: string }>> = {
  "git's own files": { existing: ".git/info/attributes", absent: ".git/hooks/pre-commit" },
  "configuration of CI and editors": { existing: ".github/workflows/ci.yml", absent: ".vscode/tasks.json" },
  "start-up files of shells and package managers": { existing: ".npmrc", absent: ".bashrc" },
  credentials: { existing: ".netrc", absent: ".ssh/id_ed25519" },
};
const EXISTING = Object.values(PATHS).map(({ existing }) => existing);
const ABSENT = Object.values(PATHS).map(({ absent }) => absent);
const ALL = [...EXISTING, ...ABSENT];

const PROGRAM = `
import json, os, sys
for path in json.load(sys.stdin):
    try:
        os.makedirs(os.path.dirname(path) or ".", exist_ok=True)
        open(path, "w").write("planted")
    except OSError: pass
print("{}")
`;
const MODULE = `
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
export default {
  name: "module_writes", description: "Writes.", inputSchema: true, tier: "side_effecting",
  effects: ["fs_read", "fs_write"],
  run(paths) {
    for (const path of paths) {
      try { mkdirSync(dirname(path), { recursive: true }); writeFileSync(path, "planted"); } catch {}
    }
    return {};
  },
};
`;
const SHELL = ALL.map((path) => `mkdir -p ${dirname(path)}; echo planted > ${path}`)
  .join("; ")
  .concat("; echo planted > control");

describe("protected paths under every kind of writer", { timeout: 180_000 }, () => {
  let at: ProgramHome;
  let session: SocketSession;
  before(async () => {
    at = await createProgramHome();
    const vault = join(at.root, "vault");
    await mkdir(vault);
    await writeFile(join(vault, "key"), "planted");
    if (OWNER !== undefined) for (const path of [vault, join(vault, "key")]) await chown(path, OWNER, OWNER);
    const files = publishedServer("filesystem", ["/workspace"], { workspace: "write" });
    await at.configure(`${MANY_VIOLATIONS}vault: ${vault}\nmcp_servers: ${JSON.stringify({ files })}\n`);
    await at.addPython("program_writes", PROGRAM, { effects: ["fs_read", "fs_write"] });
    await at.add(join(await at.write({ "writes.js": MODULE }), "writes.js"));
    await at.start(RULES);
    await furnish();
    session = await at.kernel.session({
      workspace: at.workspace,
      lease: {
        tool_patterns: ["*", "files__*"],
        capabilities: [
          { kind: "fs_read", prefixes: [at.workspace] },
          { kind: "fs_write", prefixes: [at.workspace] },
          { kind: "exec", names: ["*"] },
          { kind: "git", names: ["*"] },
          { kind: "vault", prefixes: ["/"] },
          { kind: "db_read", names: ["*"] },
          { kind: "db_write", names: ["*"] },
          { kind: "mcp", names: ["files"] },
        ],
      },
    });
  });
  after(() => at.remove());

  const place = (path: string): string => join(at.workspace, path);

  /** A repository with a branch that holds every protected path but its own files. */
  async function furnish(): Promise<void> {
    const git = (...words: string[]) =>
      execFileSync("git", ["-c", "user.name=a", "-c", "user.email=a@b", ...words], { cwd: at.workspace });
    // Git refuses a repository of another user's.
    await chown(at.workspace, process.getuid?.() ?? 0, process.getgid?.() ?? 0);
    git("init", "--quiet", "--initial-branch=main", ".");
    for (const [path, content] of [...EXISTING.map((path) => [path, "theirs"] as const), ["plain", "plain"] as const]) {
      await mkdir(dirname(place(path)), { recursive: true });
      await writeFile(place(path), content);
    }
    git("add", "--all");
    git("commit", "--quiet", "-m", "theirs");
    git("checkout", "--quiet", "-b", "planted");
    for (const path of ALL.filter((one) => !one.startsWith(".git/"))) {
      await mkdir(dirname(place(path)), { recursive: true });
      await writeFile(place(path), "planted");
    }
    git("add", "--all");
    git("commit", "--quiet", "-m", "planted");
    git("checkout", "--quiet", "main");
    for (const path of [".vscode", ".ssh"]) await rm(place(path), { recursive: true, force: true });
    if (OWNER === undefined) return;
    await chown(at.workspace, OWNER, OWNER);
    for (const entry of await readdir(at.workspace, { recursive: true, withFileTypes: true }))
      await lchown(join(entry.parentPath, entry.name), OWNER, OWNER);
  }

  async function attempt(tool: string, input: JsonObject | string[]): Promise<string> {
    const { result } = (await session.call(tool, input)).response;
    return result.case === "error" ? result.value.errorCode : (result.case ?? "");
  }

  async function assertUntouched(what: string): Promise<void> {
    for (const path of ABSENT) await assert.rejects(lstat(place(path)), { code: "ENOENT" }, `${what}: ${path}`);
    for (const path of EXISTING) assert.equal(await readFile(place(path), "utf8"), "theirs", `${what}: ${path}`);
  }

  const byPath: Readonly<Record<string, (path: string) => readonly [tool: string, input: JsonObject]>> = {
    "file_write that replaces": (path) => ["file_write", { path, content: "planted" }],
    "file_write that appends": (path) => ["file_write", { path, content: "planted", append: true }],
    "file_write that creates": (path) => ["file_write", { path, content: "planted", create_only: true }],
    file_edit: (path) => ["file_edit", { path, old_content: "theirs", new_content: "planted" }],
    "file_move to it": (path) => ["file_move", { source: "plain", destination: path, overwrite: true }],
    "file_move from it": (path) => ["file_move", { source: path, destination: "moved", overwrite: true }],
    file_delete: (path) => ["file_delete", { path, recursive: true }],
    vault_copyto: (path) => ["vault_copyto", { source: "key", destination: path }],
    db_query: (path) => ["db_query", { database: path, sql: "CREATE TABLE planted(word TEXT)" }],
    "an MCP server": (path) => ["files__write_file", { path: `/workspace/${path}`, content: "planted" }],
  };
  for (const [name, request] of Object.entries(byPath)) {
    it(`stay unchanged under ${name}`, async () => {
      // A server is started again after each change that was put back.
      const paths = name === "an MCP server" ? [".npmrc", ".bashrc"] : ALL;
      for (const path of paths) {
        const end = await attempt(...request(path));
        assert.notEqual(end, "success", `${name}: ${path}`);
        await assertUntouched(`${name}: ${path}`);
      }
      await furnishControl(/edit|from|delete/.test(name) ? "theirs" : undefined);
      assert.equal(await attempt(...request("control")), "success", "it writes nothing at all");
    });
  }

  /** A path like any other, to see that the writer works. */
  async function furnishControl(content: string | undefined): Promise<void> {
    await rm(place("control"), { force: true });
    for (const [path, text] of [["plain", "plain"] as const, ["control", content] as const]) {
      if (text === undefined) continue;
      await writeFile(place(path), text);
      if (OWNER !== undefined) await chown(place(path), OWNER, OWNER);
    }
  }

  const atOnce: Readonly<Record<string, readonly [tool: string, input: JsonObject | string[]]>> = {
    "a command": ["shell_exec", { command: SHELL }],
    "a program tool": ["program_writes", [...ALL, "control"]],
    "a module's tool": ["module_writes", [...ALL, "control"]],
  };
  for (const [name, [tool, input]] of Object.entries(atOnce)) {
    it(`stay unchanged under ${name}`, async () => {
      await furnishControl(undefined);
      assert.equal(await attempt(tool, input), "UNDECLARED_EFFECT");
      await assertUntouched(name);
      assert.match(await readFile(place("control"), "utf8"), /^planted/, "it writes nothing at all");
    });
  }

  it("stay unchanged under git's checkout", async () => {
    assert.equal(await attempt("git", { operation: "CHECKOUT", args: ["planted"] }), "UNDECLARED_EFFECT");
    await assertUntouched("a checkout");
    assert.equal(await attempt("git", { operation: "CHECKOUT", args: ["-b", "other"] }), "success");
  });

  it("stay unchanged under a job", async () => {
    await furnishControl(undefined);
    const { raw } = await session.call("shell_spawn", { command: SHELL });
    const { job_id: job } = raw as { readonly job_id: string };
    for (let offset = 0; ; ) {
      const { raw: output } = await session.call("shell_output", { job_id: job, offset, wait_ms: 20_000 });
      const { state, next_offset: next } = output as { readonly state: string; readonly next_offset: number };
      offset = next;
      if (state !== "running") break;
    }
    await assertUntouched("a job");
    assert.match(await readFile(place("control"), "utf8"), /^planted/, "it writes nothing at all");
  });
});
