import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { existsSync } from "node:fs";
import {
  chmod,
  link,
  lstat,
  mkdir,
  mkdtemp,
  readdir,
  readFile,
  realpath,
  rm,
  stat,
  symlink,
  writeFile,
} from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { afterEach, beforeEach, describe, it } from "node:test";
import { promisify } from "node:util";
import { applyPlan, applyUndoPlan } from "./apply-plan.ts";
import { CLIENT_NAMES, findClient } from "./clients.ts";
import { loadRecord } from "./connection-record.ts";
import { isChanged, planConnection, planUndo } from "./plan-connection.ts";

const execute = promisify(execFile);

describe("connecting a client", () => {
  let root: string;
  let workspace: string;
  let record: string;
  beforeEach(async () => {
    root = await realpath(await mkdtemp(join(tmpdir(), "narthex-connect-")));
    workspace = join(root, "repository");
    record = join(root, "state", "record.json");
    await mkdir(workspace);
  });
  afterEach(() => rm(root, { recursive: true, force: true }));

  const path = (name: string): string => join(workspace, name);
  const read = (name: string): Promise<string> => readFile(path(name), "utf8");

  function planFor(client: string, program = "/opt/narthex.js") {
    const found = findClient(client);
    assert.ok(found);
    const line = (...words: readonly string[]) => ({ command: "/usr/bin/node", arguments: [program, ...words] });
    return planConnection(
      workspace,
      found.files({ workspace, line, adopt: false, has: (name) => existsSync(path(name)) }),
    );
  }

  async function connect(client: string, program?: string): Promise<string[]> {
    const plans = await planFor(client, program);
    const changed = plans.filter(isChanged).map(({ file }) => file.name);
    if (changed.length > 0) await applyPlan(plans, { workspace, client }, record);
    return changed;
  }

  async function undo(): Promise<readonly string[]> {
    const found = await loadRecord(record);
    assert.ok(found);
    const plans = await planUndo(found);
    await applyUndoPlan(plans, found, record);
    return plans.flatMap(({ conflicts }) => conflicts);
  }

  /** Every file below the workspace, with its text. */
  async function everything(): Promise<Record<string, string>> {
    const found: Record<string, string> = {};
    for (const entry of await readdir(workspace, { recursive: true, withFileTypes: true })) {
      const name = join(entry.parentPath, entry.name).slice(workspace.length + 1);
      found[name] = entry.isFile() ? await read(name) : "";
    }
    return found;
  }

  describe("refuses", () => {
    it("a file behind a link that leads out of the workspace, and writes nothing", async () => {
      const outside = join(root, "outside.json");
      await writeFile(outside, "{}");
      await symlink(outside, path(".mcp.json"));
      await assert.rejects(planFor("claude"), { code: "CONFIG_INVALID", message: /leads out of the workspace/ });
      assert.equal(await readFile(outside, "utf8"), "{}");
    });

    it("a directory behind such a link, in any spelling", async () => {
      await mkdir(join(root, "repository-other"));
      for (const target of ["../repository-other", root, "..", "."]) {
        await symlink(target, path(".claude"));
        await assert.rejects(planFor("claude"), { code: "CONFIG_INVALID" }, target);
        await rm(path(".claude"));
      }
      assert.deepEqual(await readdir(join(root, "repository-other")), []);
    });

    it("a dangling link, which would create its target", async () => {
      await symlink(join(root, "not-there.json"), path(".mcp.json"));
      await assert.rejects(planFor("claude"), { code: "CONFIG_INVALID", message: /leads nowhere/ });
    });

    it("a path that is not a file, without waiting for it", async () => {
      await execute("mkfifo", [path(".mcp.json")]);
      await assert.rejects(planFor("claude"), { code: "CONFIG_INVALID", message: /no file/ });
      await rm(path(".mcp.json"));
      await mkdir(path(".mcp.json"));
      await assert.rejects(planFor("claude"), { code: "CONFIG_INVALID", message: /no file/ });
    });

    it("a file that is too large or not text", async () => {
      await writeFile(path(".mcp.json"), `{"a": "${"x".repeat(1024 * 1024)}"}`);
      await assert.rejects(planFor("claude"), { code: "CONFIG_INVALID", message: /more than/ });
      await writeFile(path(".mcp.json"), Buffer.from([0x7b, 0xff, 0x7d]));
      await assert.rejects(planFor("claude"), { code: "CONFIG_INVALID", message: /UTF-8/ });
    });

    it("a file that is not JSON, by file, line and column, even if others are valid", async () => {
      await mkdir(path(".claude"));
      await writeFile(path(".claude/settings.json"), '{\r\n  "permissions": {,}\r\n}');
      await assert.rejects(planFor("claude"), {
        code: "CONFIG_INVALID",
        message: /^\.claude\/settings\.json:2:19: not valid JSON/,
      });
    });

    it("an entry of the same name that starts another program", async () => {
      await writeFile(path(".mcp.json"), '{"mcpServers": {"narthex": {"command": "their-server", "args": ["mcp"]}}}');
      await assert.rejects(planFor("claude"), {
        code: "CONFIG_INVALID",
        message: /^\.mcp\.json:1:28: .*not narthex's/,
      });
      await mkdir(path(".github/agents"), { recursive: true });
      await writeFile(path(".github/agents/narthex.agent.md"), "theirs");
      await assert.rejects(planFor("vscode"), { code: "CONFIG_INVALID", message: /not narthex's/ });
    });

    it("overwriting a file that changed after it was read", async () => {
      await writeFile(path(".mcp.json"), "{}");
      const plans = await planFor("claude");
      await writeFile(path(".mcp.json"), '{"mine": 1}');
      await assert.rejects(applyPlan(plans, { workspace, client: "claude" }, record), /changed it meanwhile/);
      assert.equal(await read(".mcp.json"), '{"mine": 1}');
      assert.deepEqual(await readdir(workspace), [".mcp.json"], "and leaves no draft");
    });
  });

  for (const client of CLIENT_NAMES) {
    it(`writes ${client}'s files once, and removes them with the directories it created`, async () => {
      const changed = await connect(client);
      assert.ok(changed.length >= 1);
      assert.deepEqual(await connect(client), [], "a second run has nothing to change");
      assert.deepEqual(await undo(), []);
      assert.deepEqual(await everything(), {});
      assert.equal(await loadRecord(record), undefined);
    });
  }

  it("merges with existing content, keeps its mode, and restores it to the byte", async () => {
    const settings = '{\n    // mine\n    "permissions": {\n        "deny": ["Read(.env)", "Bash"],\n    },\n}\n';
    await mkdir(path(".claude"));
    await writeFile(path(".claude/settings.json"), settings);
    await chmod(path(".claude/settings.json"), 0o640);
    const before = await everything();
    await connect("claude");
    assert.match(await read(".claude/settings.json"), /\/\/ mine\n.*"Read\(\.env\)", "Bash", "PowerShell"/s);
    assert.equal((await stat(path(".claude/settings.json"))).mode & 0o777, 0o640);
    await undo();
    assert.deepEqual(await everything(), before);
    assert.match(await read(".claude/settings.json"), /"Bash"/, "which was there before");
  });

  it("keeps comments and tables of Codex's TOML, updates a moved program, and restores it to the byte", async () => {
    const own = '# mine\n[features] # here\nshell_tool = true # ask\n\n[mcp_servers.docs]\nurl = "https://a"';
    await mkdir(path(".codex"));
    await writeFile(path(".codex/config.toml"), own);
    await connect("codex", "/old place/narthex.js");
    await connect("codex");
    const text = await read(".codex/config.toml");
    assert.ok(
      text.startsWith('web_search = "disabled"\n\n# mine\n[features] # here\nshell_tool = false # ask\n'),
      text,
    );
    assert.match(text, /^command = "\/usr\/bin\/node"\nargs = \["\/opt\/narthex\.js", "mcp",/m);
    assert.ok(!text.includes("/old place"));
    assert.deepEqual(await undo(), []);
    assert.equal(await read(".codex/config.toml"), own);
  });

  it("names line and column of invalid TOML, and rejects another program's server there", async () => {
    await mkdir(path(".codex"));
    await writeFile(path(".codex/config.toml"), 'model = "o"\n[features\n');
    await assert.rejects(planFor("codex"), { message: /^\.codex\/config\.toml:2:10: not valid TOML: `\]` is missing/ });
    await writeFile(path(".codex/config.toml"), '[mcp_servers.narthex]\ncommand = "their-server"\nargs = ["mcp"]\n');
    await assert.rejects(planFor("codex"), { message: /config\.toml:1:1: `mcp_servers\.narthex` is not narthex's/ });
  });

  it("writes into an existing opencode.jsonc, with its comments", async () => {
    // opencode goes by the last rule that matches: one that stood after ours would allow everything again.
    const own = '{\n  // mine\n  "permission": { "bash": { "git *": "allow" }, "*": "allow", },\n}\n';
    await writeFile(path("opencode.jsonc"), own);
    assert.deepEqual(await connect("opencode"), ["opencode.jsonc"]);
    const text = await read("opencode.jsonc");
    assert.match(text, /\/\/ mine\n {2}"permission": \{\s*"bash": "deny",\s*"edit": "deny",/);
    assert.doesNotMatch(text, /"\*"/);
    await undo();
    assert.deepEqual(await everything(), { "opencode.jsonc": own });
  });

  it("replaces its own server with all its keys, in every file that a client merges, and restores them", async () => {
    const more = { env: { NODE_OPTIONS: "x" }, environment: { NODE_OPTIONS: "x" }, envFile: "x", cwd: "x" };
    const server = { command: "npx", args: ["narthex", "mcp"], ...more };
    const listed = { type: "local", ...server, command: ["npx", "narthex", "mcp"] };
    for (const [client, key, names] of [
      ["claude", "mcpServers", [".mcp.json"]],
      ["cursor", "mcpServers", [".cursor/mcp.json"]],
      ["gemini", "mcpServers", [".gemini/settings.json"]],
      ["qwen", "mcpServers", [".qwen/settings.json"]],
      ["vscode", "servers", [".vscode/mcp.json"]],
      ["opencode", "mcp", ["opencode.json", "opencode.jsonc", ".opencode/opencode.json", ".opencode/opencode.jsonc"]],
    ] as const) {
      // A wildcard of another file of opencode's would come after what ours denies.
      const own = {
        [key]: { narthex: client === "opencode" ? listed : server },
        permission: { bash: "deny", "*": "allow" },
      };
      for (const name of names) {
        await mkdir(dirname(path(name)), { recursive: true });
        await writeFile(path(name), JSON.stringify(own));
      }
      const before = await everything();
      await connect(client);
      for (const name of names) {
        const text = await read(name);
        assert.doesNotMatch(text, /NODE_OPTIONS|envFile|"cwd"/, name);
        if (client === "opencode") assert.doesNotMatch(text, /"\*"/, name);
      }
      assert.deepEqual(await undo(), []);
      assert.deepEqual(await everything(), before);
      for (const name of await readdir(workspace)) await rm(path(name), { recursive: true });
    }
  });

  it("denies opencode's tools after a wildcard in a file outside the workspace, too", async () => {
    await connect("opencode");
    const { permission } = JSON.parse(await read("opencode.json")) as { permission: Record<string, string> };
    // As opencode merges its files, and goes by the last match: a key keeps the place that it has in the first of them.
    const rules = Object.entries({ bash: "ask", lsp: "allow", "*": "allow", ...permission });
    const matches = (pattern: string, tool: string) =>
      new RegExp(`^${pattern.replaceAll("*", ".*").replaceAll("?", ".")}$`).test(tool);
    const answer = (tool: string) => rules.findLast(([pattern]) => matches(pattern, tool))?.[1];
    for (const tool of ["bash", "edit", "read", "task", "lsp"]) assert.equal(answer(tool), "deny", tool);
    for (const tool of ["narthex_shell_exec", "todowrite", "tasks_list"]) assert.equal(answer(tool), "allow", tool);
  });

  it("replaces settings that would disable its entries, and restores them", async () => {
    await mkdir(path(".claude"));
    await mkdir(path(".vscode"));
    const settings = { "chat.tools.edits.autoApprove": { "**/*": true, "src/**": true } };
    await writeFile(path(".claude/settings.json"), '{"disableAllHooks": true}');
    await writeFile(path(".vscode/settings.json"), JSON.stringify(settings));
    const before = await everything();
    await connect("claude");
    assert.match(await read(".claude/settings.json"), /"disableAllHooks": false/);
    await undo();
    await connect("vscode");
    const approved = JSON.parse(await read(".vscode/settings.json")) as typeof settings;
    assert.deepEqual(approved["chat.tools.edits.autoApprove"], { "**/*": false });
    await undo();
    assert.deepEqual(await everything(), before);
  });

  it("replaces the whole file: a hard link to the old one keeps the old text", async () => {
    await writeFile(path(".mcp.json"), "{}");
    await link(path(".mcp.json"), path("copy.json"));
    await connect("claude");
    assert.equal(await read("copy.json"), "{}");
  });

  it("follows and keeps a link inside the workspace", async () => {
    await mkdir(path("config"));
    await writeFile(path("config/mcp.json"), "{}");
    await symlink("config/mcp.json", path(".mcp.json"));
    await connect("claude");
    assert.ok((await lstat(path(".mcp.json"))).isSymbolicLink());
    assert.match(await read("config/mcp.json"), /narthex/);
  });

  it("keeps later changes, and files that have more content by now", async () => {
    await connect("cursor");
    const hooks = JSON.parse(await read(".cursor/hooks.json")) as { hooks: Record<string, unknown[]> };
    hooks.hooks["afterFileEdit"] = [{ command: "./format.sh" }];
    hooks.hooks["preToolUse"]?.push({ command: "./mine.sh" });
    await writeFile(path(".cursor/hooks.json"), JSON.stringify(hooks, undefined, 2));
    const servers = (await read(".cursor/mcp.json")).replace('"/opt/narthex.js"', '"/opt/other.js"');
    await writeFile(path(".cursor/mcp.json"), servers);
    assert.deepEqual(await undo(), ["mcpServers.narthex"]);
    assert.equal(await read(".cursor/mcp.json"), servers);
    assert.deepEqual(JSON.parse(await read(".cursor/hooks.json")), {
      hooks: { preToolUse: [{ command: "./mine.sh" }], afterFileEdit: [{ command: "./format.sh" }] },
    });
  });

  it("updates a moved program, leaves one hook, and still reverts everything", async () => {
    const entry = '{"mcpServers": {"narthex": {"command": "npx", "args": ["narthex", "mcp"]}}}';
    await writeFile(path(".mcp.json"), entry);
    await connect("claude", "/old place/narthex.js");
    await connect("claude", "/opt/narthex.js");
    const settings = await read(".claude/settings.json");
    assert.equal(settings.match(/hook claude/g)?.length, 1);
    assert.ok(!settings.includes("/old place"));
    await undo();
    assert.deepEqual(await everything(), { ".mcp.json": entry });
  });
});
