import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { chown, mkdir, readdir, readFile, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { text } from "node:stream/consumers";
import { after, afterEach, before, describe, it } from "node:test";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { JsonObject } from "@narthex/contracts";
import { inspect } from "../doors/mcp/inspector.ts";
import {
  createHostedHome,
  ended,
  inheritedEnvironment,
  objectOf,
  objectsOf,
  parseObject,
  readLines,
  type Serving,
  type TestHome,
  textOf,
} from "./home.ts";

const isRoot = process.getuid?.() === 0;

describe("narthex connect", { timeout: 180_000 }, () => {
  let at: TestHome;
  let kernel: Serving;
  before(async () => {
    at = await createHostedHome();
    // As root, tools change only a workspace that is another user's.
    if (isRoot) await chown(at.workspace, 1000, 1000);
    kernel = await at.serve();
  });
  after(async () => {
    await kernel.stop();
    await at.remove();
  });
  afterEach(async () => {
    for (const name of await readdir(at.workspace)) await rm(join(at.workspace, name), { recursive: true });
  });

  const path = (name: string): string => join(at.workspace, name);
  const connect = (client: string, ...options: readonly string[]) => [
    "connect",
    client,
    "--workspace",
    at.workspace,
    ...options,
  ];

  it("rejects an unknown client and an invalid workspace", async () => {
    const { code, stderr } = await at.run(connect("emacs"));
    assert.equal(code, 2);
    assert.match(stderr, /no client `emacs`; name claude, codex, cursor, gemini, opencode, qwen or vscode/);
    const refused = await at.ask(["connect", "claude", "--workspace", at.root, "--yes"], 4);
    assert.equal(objectOf(refused["error"])["code"], "WORKSPACE_REFUSED");
  });

  it("names file, line and column of invalid JSON, and changes nothing", async () => {
    await mkdir(path(".claude"));
    await writeFile(path(".claude/settings.json"), '{\n  "permissions": oops\n}\n');
    const { code, stdout, stderr } = await at.run(connect("claude", "--yes"));
    assert.deepEqual([code, stdout], [4, ""]);
    assert.match(stderr, /\.claude\/settings\.json:2:18: not valid JSON/);
    assert.deepEqual(await readdir(at.workspace), [".claude"]);
  });

  it("shows host, policy and difference, and writes nothing without a confirmation or in a dry run", async () => {
    const tried = await at.run(connect("cursor", "--dry-run"));
    assert.equal(tried.code, 0, tried.stderr);
    assert.match(tried.stdout, /^ {2}host +L[012]/m);
    assert.match(
      tried.stdout,
      /^ {2}unasked +read, edit, tests, builds, linters, git add, commit, branch, commands that/m,
    );
    assert.match(tried.stdout, /^ {2}asks +other commands, background jobs, git reset --hard, git push$/m);
    assert.match(
      tried.stdout,
      /^ {2}denied +writes to \.git, to CI, to \.env, to configuration of agents .*, the network$/m,
    );
    assert.match(tried.stdout, /^ {2}beware +\.env can be read without a question/m);
    assert.match(tried.stdout, /^ {4}\+ +"failClosed": true/m);
    assert.match(tried.stdout, /cannot switch off its built-in tools/);
    const unanswered = await at.run(connect("cursor"));
    assert.equal(unanswered.code, 2);
    assert.match(unanswered.stderr, /nothing was written/);
    assert.deepEqual(await readdir(at.workspace), []);
  });

  it("connects Claude Code once, with working entries, and removes all of them again", async () => {
    const settings = '{\n  // ours\n  "model": "opus",\n}\n';
    await mkdir(path(".claude"));
    await writeFile(path(".claude/settings.json"), settings, { mode: 0o600 });
    const first = await at.ask(connect("claude", "--yes"), 0, { ownProcess: true });
    assert.equal(first["written"], true);
    assert.deepEqual(
      objectsOf(first["changed"]).map((file) => [file["file"], file["created"]]),
      [
        [".mcp.json", true],
        [".claude/settings.json", false],
      ],
    );
    const written = await readFile(path(".claude/settings.json"), "utf8");
    assert.match(written, /^\{\n {2}\/\/ ours\n {2}"model": "opus",\n {2}"permissions": \{/);
    assert.equal((await stat(path(".claude/settings.json"))).mode & 0o777, 0o600);
    const again = await at.run(connect("claude"));
    assert.match(again.stdout, /nothing to change/);
    assert.equal(await readFile(path(".claude/settings.json"), "utf8"), written);

    const server = objectOf(objectOf(parseObject(await readFile(path(".mcp.json"), "utf8"))["mcpServers"])["narthex"]);
    assert.ok((await toolsOf(server)).includes("shell_exec"));
    const line = /"command": (?<line>".* hook claude .*"),/.exec(written)?.groups?.["line"];
    const answer = await askHook(JSON.parse(line ?? "") as string, path(".git/config"));
    assert.equal(objectOf(answer["hookSpecificOutput"])["permissionDecision"], "deny");

    const undone = await at.ask(connect("claude", "--undo"), 0, { ownProcess: true });
    assert.deepEqual(undone["left"], []);
    assert.equal(await readFile(path(".claude/settings.json"), "utf8"), settings);
    assert.deepEqual(await readdir(at.workspace), [".claude"]);
    assert.match((await at.run(connect("claude", "--undo"))).stdout, /nothing to undo/);
  });

  it("connects Codex with a working server outside of commits, names an outdated version, and disconnects it", async () => {
    await rm(at.workspace, { recursive: true });
    await mkdir(path(".codex"), { recursive: true });
    spawnSync("git", ["init", "--quiet", at.workspace]);
    await writeFile(path(".codex/config.toml"), '# ours\nmodel = "o"\n');
    if (isRoot) spawnSync("chown", ["-R", "1000:1000", at.workspace]);
    const list = await readFile(path(".git/info/exclude"), "utf8");
    const programs = join(at.root, "programs");
    await mkdir(programs);
    await writeFile(join(programs, "codex"), "#!/bin/sh\necho codex-cli 0.20.0\n", { mode: 0o755 });
    const env = { PATH: `${programs}:${process.env["PATH"] ?? ""}` };
    const { code, stdout } = await at.run(connect("codex", "--yes"), { ownProcess: true, env });
    assert.equal(code, 0);
    assert.match(stdout, /^ {4}\+ \/\.codex\/config\.toml$/m);
    assert.match(stdout, /^ {2}beware +Codex 0\.20\.0 was not tried.*: update it to 0\.169\.0 or later/m);
    assert.match(stdout, /^next: without a terminal: codex exec --trust/m);
    assert.match(stdout, /^next: answer what the agent asks you in another terminal: .*narthex.* approvals watch$/m);
    assert.equal(await readFile(path(".git/info/exclude"), "utf8"), `${list}/.codex/config.toml\n`);
    const written = await readFile(path(".codex/config.toml"), "utf8");
    assert.match(written, /^# ours\nmodel = "o"\nweb_search = "disabled"\n\n\[features\]\nshell_tool = false\n/);
    const [, command, args] = /^command = (".*")\nargs = (\[.*\])$/m.exec(written) ?? [];
    const server = { command: JSON.parse(command ?? "") as string, args: JSON.parse(args ?? "") as string[] };
    assert.ok((await toolsOf(server)).includes("file_edit"));
    await at.ask(connect("codex", "--undo"), 0, { ownProcess: true });
    assert.equal(await readFile(path(".codex/config.toml"), "utf8"), '# ours\nmodel = "o"\n');
    assert.equal(await readFile(path(".git/info/exclude"), "utf8"), list);
    // Written by Claude Code itself when a person accepts the server.
    const claude = await at.run(connect("claude", "--dry-run"));
    assert.match(claude.stdout, /^ {4}\+ \/\.claude\/settings\.local\.json$/m);
  });

  for (const { client, file, under } of [
    { client: "cursor", file: ".cursor/mcp.json", under: "mcpServers" },
    { client: "vscode", file: ".vscode/mcp.json", under: "servers" },
  ]) {
    it(`gives ${client} a server that the official SDK's client and Inspector can start and use`, async () => {
      await at.ask(connect(client, "--yes"), 0, { ownProcess: true });
      if (isRoot) spawnSync("chown", ["-R", "1000:1000", at.workspace]);
      const entry = objectOf(objectOf(parseObject(await readFile(path(file), "utf8"))[under])["narthex"]);
      const args = Array.isArray(entry["args"]) ? entry["args"].map(textOf) : [];
      const command = textOf(entry["command"]);
      const env = { HOME: at.root };
      const sdk = new Client({ name: "generic", version: "1" });
      await sdk.connect(new StdioClientTransport({ command, args, env, cwd: "/", stderr: "ignore" }));
      const { tools } = await sdk.listTools();
      assert.ok(tools.some(({ name }) => name === "git"));
      const write = { name: "file_write", arguments: { path: "by-sdk", content: client } };
      assert.notEqual((await sdk.callTool(write)).isError, true);
      assert.equal(await readFile(path("by-sdk"), "utf8"), client);
      // What starts a program in the editor is not the agent's to change.
      const own = { name: "file_write", arguments: { path: file, content: "{}" } };
      assert.equal((await sdk.callTool(own)).isError, true);
      await sdk.close();
      const read = ["--method", "tools/call", "--tool-name", "file_read", "--tool-arg", "path=by-sdk"];
      const { code, output } = await inspect({ command, args, env }, ...read);
      assert.equal(code, 0, output);
      assert.match(output, new RegExp(client));
      await at.ask(connect(client, "--undo"), 0, { ownProcess: true });
      assert.deepEqual(await readdir(at.workspace), ["by-sdk"]);
    });
  }

  if (isRoot) {
    it("rejects a workspace of root's, and with consent makes the client adopt it", async () => {
      const owned = join(at.root, "of-root");
      await mkdir(owned);
      const { code, stderr } = await at.run(["connect", "gemini", "--workspace", owned, "--yes"]);
      assert.equal(code, 4);
      assert.match(stderr, /belongs to root: [^]*\nnext: {2}say --adopt/);
      assert.deepEqual(await readdir(owned), []);
      await at.ask(["connect", "gemini", "--workspace", owned, "--yes", "--adopt"]);
      assert.match(await readFile(join(owned, ".gemini/settings.json"), "utf8"), /"gemini-cli",\s+"--adopt"/);
      assert.equal((await stat(owned)).uid, 0);
    });
  }

  /** Starts the server as a client would, far from the workspace. */
  async function toolsOf({ command, args }: JsonObject): Promise<string[]> {
    const words = Array.isArray(args) ? args.map(textOf) : [];
    const child = spawn(textOf(command), words, { cwd: "/", env: environment(), stdio: ["pipe", "pipe", "pipe"] });
    const next = readLines(child);
    const send = (message: JsonObject) => child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
    const clientInfo = { name: "test", version: "1" };
    send({ id: 1, method: "initialize", params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo } });
    await next();
    send({ method: "notifications/initialized" });
    send({ id: 2, method: "tools/list", params: {} });
    const { tools } = objectOf(parseObject(await next())["result"]);
    child.stdin.end();
    assert.equal(await ended(child), 0);
    return objectsOf(tools).map(({ name }) => textOf(name));
  }

  /** Runs the hook's line as a client would. */
  async function askHook(line: string, file: string): Promise<JsonObject> {
    const child = spawn("sh", ["-c", line], { cwd: "/", env: environment(), stdio: ["pipe", "pipe", "inherit"] });
    const tool_input = { file_path: file, content: "" };
    child.stdin.end(JSON.stringify({ hook_event_name: "PreToolUse", tool_name: "Write", tool_input, cwd: "/" }));
    const output = await text(child.stdout);
    assert.equal(await ended(child), 0);
    return parseObject(output);
  }

  /** Without NARTHEX_DATA: the entries name the home themselves. */
  function environment(): NodeJS.ProcessEnv {
    const { NARTHEX_DATA: _, ...rest } = inheritedEnvironment();
    return { ...rest, HOME: at.root };
  }
});
