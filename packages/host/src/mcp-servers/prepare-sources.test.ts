import assert from "node:assert/strict";
import { mkdir, mkdtemp, rm, symlink } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { isKernelError, type JsonObject } from "@narthex/contracts";
import { defineTool } from "@narthex/kernel";
import { parseConfiguration } from "../configuration/parse-configuration.ts";
import { prepareSources } from "./prepare-sources.ts";

const GIT = {
  ...defineTool({ name: "git", description: "Git.", inputSchema: true, run: () => null }),
  actions: ["git_status"],
  action: () => "git_status",
};

describe("the configuration of MCP servers", () => {
  let root: string;
  before(async () => {
    root = await mkdtemp(join(tmpdir(), "narthex-sources-"));
    await mkdir(join(root, "home/policy"), { recursive: true });
    await mkdir(join(root, "server"));
    await symlink(join(root, "home"), join(root, "link"));
  });
  after(() => rm(root, { recursive: true, force: true }));

  const prepare = (servers: JsonObject) =>
    prepareSources({
      settings: parseConfiguration(JSON.stringify({ mcp_servers: servers }), "x").mcpServers,
      secrets: new Map(),
      environment: {},
      kernelHome: join(root, "home"),
      builtins: [GIT],
      findVaultConflict: (path) => (path.startsWith("/usr/share") ? "it is the vault" : undefined),
      version: "1.0.0",
    });
  const refused = (pattern: RegExp) => (fault: unknown) =>
    isKernelError(fault) && fault.code === "CONFIG_INVALID" && pattern.test(fault.message);
  const command = ["node"];

  const BAD: readonly (readonly [string, (root: string) => JsonObject, RegExp])[] = [
    [
      "a name that is an operation of a built-in tool's",
      () => ({ git: { command } }),
      /operations of the built-in tool git/,
    ],
    [
      "read_only with the effects of a server",
      () => ({ odd: { command, tier: "read_only" } }),
      /read_only and has the effect net_write/,
    ],
    [
      "a tool with more of the workspace than its server",
      () => ({ odd: { command, tools: { speak: { effects: ["fs_read"] } } } }),
      /fs_read, which `workspace: none` does not give/,
    ],
    [
      "writing without reading",
      () => ({ odd: { command, workspace: "write", effects: ["fs_write"] } }),
      /must have fs_read beside fs_write/,
    ],
    [
      "one variable from two places",
      () => ({ odd: { command, env: { KEY: "a" }, secrets: { KEY: "weather_key" } } }),
      /sets `KEY` in both/,
    ],
    [
      "a password in its url",
      () => ({ odd: { url: "https://user:word@a.test/mcp" } }),
      /cannot be asked at its url: credentials/,
    ],
    ["a url of no host", () => ({ odd: { url: "https://*.a.test/" } }), /cannot be asked at its url: host/],
    [
      "read_only for what is sent elsewhere",
      () => ({ odd: { url: "https://a.test/mcp", tier: "read_only" } }),
      /read_only and has the effect net_write/,
    ],
    ["a file that is not there", () => ({ odd: { command, files: ["/nowhere/at/all"] } }), /which is not there/],
    ["the kernel's home among its files", (at) => ({ odd: { command, files: [join(at, "home")] } }), /cannot be shown/],
    ["what lies in the home", (at) => ({ odd: { command, files: [join(at, "home/policy")] } }), /it lies in/],
    ["what holds the home", (at) => ({ odd: { command, files: [at] } }), /it holds/],
    ["a link into the home", (at) => ({ odd: { command, files: [join(at, "link/policy")] } }), /it lies in/],
    ["a whole system", () => ({ odd: { command, files: ["/etc"] } }), /cannot be shown/],
    ["what is the vault's", () => ({ odd: { command, files: ["/usr/share/doc"] } }), /it is the vault/],
  ];
  for (const [name, servers, message] of BAD) {
    it(`is refused with ${name}`, async () => {
      await assert.rejects(prepare(servers(root)), refused(message));
    });
  }

  it("is taken otherwise, with the real places of its files", async () => {
    const [source] = await prepare({ odd: { command, files: [join(root, "server")], tier: "read_only", effects: [] } });
    assert.deepEqual(source?.files, [{ source: join(root, "server"), target: join(root, "server") }]);
  });
});
