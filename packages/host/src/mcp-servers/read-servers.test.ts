import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { isKernelError } from "@narthex/contracts";
import { parseConfiguration } from "../configuration/parse-configuration.ts";

const refuses = (text: string, pattern: RegExp): void =>
  assert.throws(
    () => parseConfiguration(text, "narthex.yaml"),
    (fault) => isKernelError(fault) && fault.code === "CONFIG_INVALID" && pattern.test(fault.message),
  );

describe("mcp_servers in narthex.yaml", () => {
  it("names every server once", () => {
    const text = "mcp_servers:\n  notes: { command: [a] }\n  notes: { command: [b] }\n";
    refuses(text, /line 3: `mcp_servers\.notes` is given twice/);
  });

  it("takes no key that it does not know, and says where it stands and which there are", () => {
    refuses(
      "mcp_servers:\n  notes:\n    command: [a]\n    port: x\n",
      /line 4: `mcp_servers\.notes\.port` is not known; known are/,
    );
    refuses("mcp_servers:\n  notes:\n    env: { A: b }\n", /`mcp_servers\.notes\.command` must be given/);
  });

  it("rejects program options beside a url, and an invalid url", () => {
    const known = "is not known; known are url, secret, tier, effects, timeout_ms, tools";
    for (const key of ["command: [a]", "files: [/srv]", "env: { A: b }", "secrets: { A: b }", "workspace: read"]) {
      refuses(`mcp_servers: { notes: { url: "https://a.test/mcp", ${key} } }`, new RegExp(known));
    }
    for (const url of [
      "ftp://a.test",
      "a.test",
      "https://a.test/#x",
      "https://a.test/ x",
      "https://a.test\\\\@b.test",
    ]) {
      refuses(`mcp_servers: { notes: { url: "${url}" } }`, /`mcp_servers\.notes\.url` is nothing that can stand here/);
    }
    refuses('mcp_servers: { notes: { url: "https://a.test", effects: [] } }', /must not be empty/);
    refuses(
      'mcp_servers: { notes: { url: "https://a.test", effects: [fs_read] } }',
      /must be one of net_read, net_write/,
    );
    refuses("mcp_servers: { notes: { command: [a], secret: token } }", /`mcp_servers\.notes\.secret` is not known/);
  });

  it("is read whole with a url", () => {
    const { mcpServers } = parseConfiguration(
      'mcp_servers: { notes: { url: "https://a.test/mcp?v=1", secret: token, tools: { list: { effects: [net_read] } } } }',
      "narthex.yaml",
    );
    assert.deepEqual(mcpServers.get("notes"), {
      name: "notes",
      url: "https://a.test/mcp?v=1",
      command: [],
      environment: new Map(),
      secrets: new Map([["authorization", "token"]]),
      files: [],
      workspace: "none",
      defaultProfile: {},
      tools: new Map([["list", { effects: ["net_read"] }]]),
    });
  });

  it("does not repeat what was written where a secret's name should be", () => {
    const text = "mcp_servers: { notes: { command: [a], secrets: { KEY: 'sk-live 1234' } } }";
    assert.throws(
      () => parseConfiguration(text, "narthex.yaml"),
      (fault) => isKernelError(fault) && !JSON.stringify([fault.message, fault.violations]).includes("sk-live"),
    );
  });

  it("lets no variable be set that decides what is loaded", () => {
    for (const name of ["PATH", "LD_PRELOAD", "NODE_OPTIONS", "BASH_ENV", "OPENSSL_CONF", "HOME"]) {
      refuses(`mcp_servers: { notes: { command: [a], env: { ${name}: x } } }`, /is set by the sandbox itself/);
    }
  });

  it("is read whole", () => {
    const { mcpServers } = parseConfiguration(
      `mcp_servers:
  notes:
    command: [node, /srv/server.js]
    env: { A: "1" }
    secrets: { KEY: notes_key }
    files: [/srv]
    workspace: write
    tier: privileged
    tools: { list: { tier: read_only, effects: [fs_read, fs_read], timeout_ms: 5 } }
`,
      "narthex.yaml",
    );
    assert.deepEqual(mcpServers.get("notes"), {
      name: "notes",
      command: ["node", "/srv/server.js"],
      environment: new Map([["A", "1"]]),
      secrets: new Map([["KEY", "notes_key"]]),
      files: ["/srv"],
      workspace: "write",
      defaultProfile: { tier: "privileged" },
      tools: new Map([["list", { tier: "read_only", effects: ["fs_read"], timeoutMs: 5 }]]),
    });
  });
});
