import assert from "node:assert/strict";
import { chmod, cp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fromBinary } from "@bufbuild/protobuf";
import { type JsonObject, RecordSchema } from "@narthex/contracts";
import { processesWith } from "./shell-kernel.ts";
import { createMcpHome, type McpHome, type McpSession, ODD_SERVER, oddServer, permits } from "./mcp-kernel.ts";

/** Servers by name, and the way in which each is odd. */
const ODD = {
  good: "good",
  silent: "silent",
  twice: "twice",
  unknown: "unknown-id",
  endless: "no-newline",
  noise: "text-noise",
  half: "json-noise",
  doublekey: "double-key",
  batch: "batch",
  chatty: "notifications",
  sampling: "sampling",
  once: "asks-once",
  input: "input-required",
  crash: "crash",
  error: "error",
  structured: "structured",
  picture: "picture",
  wrong: "wrong-content",
  stateless: "stateless",
  hints: "hints",
  changes: "changes",
} as const;

/** Servers that list odd things, or nothing. */
const LISTING = {
  names: "names",
  hidden: "hidden",
  many: "many",
  doubled: "doubled",
  pages: "endless",
  dead: "dead",
  refuses: "refuses",
  old: "old",
} as const;

const rules = permits(...Object.keys(ODD).map((name) => `${name}__speak`), "good__other", "names__loud");
const FREE =
  '@id("free") permit(principal, action == Action::"hints__speak", resource) when { context.effects.isEmpty() };';

describe("hostile MCP servers", { timeout: 300_000 }, () => {
  let at: McpHome;
  let session: McpSession;
  before(async () => {
    at = await createMcpHome();
    const servers: JsonObject = Object.fromEntries(
      Object.entries({ ...ODD, ...LISTING }).map(([name, mode]) => [name, oddServer(mode)]),
    );
    // Their command lines are found among all processes of the machine.
    servers["good"] = oddServer("good", join(at.shared, "good"));
    servers["twice"] = oddServer("twice", join(at.shared, "twice"));
    servers["silent"] = { ...oddServer("silent", join(at.shared, "silent")), timeout_ms: 4000 };
    await at.configure(servers);
    await at.start(rules);
    session = await at.open([...Object.keys(ODD), ...Object.keys(LISTING)]);
  });
  after(() => at.remove());

  const said = (server: string): string =>
    at.logged
      .filter((entry) => entry["server"] === server)
      .map(({ problem }) => String(problem))
      .join("\n");
  const toolsOf = (server: string): string[] =>
    at.kernel
      .listTools({ allVersions: false })
      .map(({ declaration }) => declaration.name)
      .filter((name) => name.startsWith(`${server}__`));

  const BROKEN: Readonly<Record<string, RegExp>> = {
    unknown: /answered what nobody had asked/,
    endless: /a message above 8388608 bytes/,
    half: /begins like JSON and is none/,
    doublekey: /begins like JSON and is none/,
    batch: /a batch/,
    chatty: /more than 10000 lines unasked/,
    sampling: /went on asking for `sampling\/createMessage`/,
    input: /asks for input_required/,
  };
  for (const [server, message] of Object.entries(BROKEN)) {
    it(`fail one call and are stopped, with the reason: ${server}`, async () => {
      const failed = await session.failure(`${server}__speak`, { words: "hello" });
      assert.equal(failed.code, "EXECUTION_FAILED");
      assert.match(failed.message, message);
    });
  }

  it("that never respond are stopped at the call's time-out", async () => {
    assert.equal((await session.failure("silent__speak")).code, "TIMEOUT");
    await untilGone(join(at.shared, "silent"));
  });

  it("that respond twice have their second response dropped, and a fresh one handles the next call", async () => {
    assert.deepEqual(await session.answer("twice__speak", { words: "1" }), { text: "first" });
    await untilGone(join(at.shared, "twice"));
    assert.deepEqual(await session.answer("twice__speak", { words: "2" }), { text: "first" });
  });

  it("that print malformed messages still work", async () => {
    assert.deepEqual(await session.answer("noise__speak"), { text: "through the noise" });
  });

  it("that send a request get one refusal, and continue", async () => {
    assert.deepEqual(await session.answer("once__speak"), { text: "asked once" });
  });

  it("report failures as visible text of limited length", async () => {
    const { code, message } = await session.failure("error__speak");
    assert.equal(code, "EXECUTION_FAILED");
    assert.match(message, /the MCP server says: no\\u\{202e\} \\u\{1b\}\[2Jway y+/);
    assert.ok(message.length < 2500);
    assert.ok(!/[\u202e\u001b]/.test(message));
  });

  it("that crash in a call are reported, and not restarted again and again", async () => {
    const first = await session.failure("crash__speak", { words: "0" });
    assert.match(first.message, /ended with exit code 3; it said: \\u\{1b\}\[31mout of paper/);
    const later: string[] = [];
    for (let n = 1; n < 40; n++) later.push((await session.failure("crash__speak", { words: String(n) })).message);
    const [second, ...rest] = later;
    assert.match(second ?? "", /exit code 3/);
    // On a slow machine the wait for another start may be over before these calls are; each wait is longer than the last.
    const starts = rest.filter((message) => /exit code 3/.test(message));
    const refused = rest.filter((message) => /has failed \d+ times in a row; it is started again in/.test(message));
    assert.equal(starts.length + refused.length, rest.length, rest.join("\n"));
    assert.ok(starts.length <= 3, rest.join("\n"));
  });

  it("return structured or other content, and nothing else", async () => {
    assert.deepEqual(await session.answer("structured__speak"), { count: 3 });
    const picture = [{ type: "image", mimeType: "image/png", data: "aGk=" }];
    assert.deepEqual(await session.answer("picture__speak"), { content: picture });
    assert.equal((await session.failure("wrong__speak")).code, "INVALID_OUTPUT");
  });

  it("of the revision without a handshake work too", async () => {
    assert.deepEqual(await session.answer("stateless__speak"), { text: "without a handshake: speak" });
  });

  it("that declare a tool read-only do not lower its tier", () => {
    const found = at.kernel
      .listTools({ allVersions: false })
      .find(({ declaration }) => declaration.name === "hints__speak");
    assert.equal(found?.declaration.tier, "side_effecting");
    assert.deepEqual(found.declaration.effects, ["net_write"]);
  });

  it("expose only tools with valid names", async () => {
    const [odd, loud, long, ...others] = toolsOf("names");
    assert.deepEqual([odd, loud, others], ["names___", "names__loud", []]);
    assert.match(long ?? "", /^names__x{48}_[0-9a-f]{8}$/);
    assert.match(said("names"), /names__get_sum would stand for several tools/);
    assert.deepEqual(await session.answer("names__loud", { words: "a" }), { text: "a" });
    assert.deepEqual(toolsOf("doubled"), ["doubled__other"]);
  });

  it("expose no tools with hidden text, endless lists or invalid declarations", () => {
    assert.deepEqual(toolsOf("hidden"), ["hidden__speak"]);
    const problems = said("hidden");
    for (const name of ["bidi", "ansi", "zero"]) {
      assert.match(problems, new RegExp(`hidden__${name}@1.0.0 cannot be registered: description holds invisible`));
    }
    assert.match(problems, /hidden__tags@1.0.0 cannot be registered/);
    assert.match(problems, /`huge` is described by more than/);
    assert.match(problems, /`none` has no input schema/);
    assert.match(problems, /`slow` runs only as a task/);
  });

  it("whose tools cannot be listed have none, and this is reported", () => {
    for (const server of ["many", "pages", "dead", "refuses", "old"]) assert.deepEqual(toolsOf(server), [], server);
    assert.match(said("many"), /more than 256 tools/);
    assert.match(said("pages"), /more than 32 pages/);
    assert.match(said("dead"), /ended with exit code 1/);
    assert.match(said("refuses"), /refused the handshake: not\\u\{1b\} today/);
    assert.match(said("old"), /revision 1999-01-01/);
  });

  it("that change their list while running are quarantined from the next call on", async () => {
    assert.deepEqual(await session.answer("changes__speak", { words: "1" }), { text: "changed" });
    assert.equal((await session.failure("changes__speak", { words: "2" })).code, "TOOL_QUARANTINED");
  });

  it("do not affect others: a good one still responds after all that", async () => {
    assert.deepEqual(await session.answer("good__speak", { words: "hello" }), { text: "hello" });
  });

  it("handle calls one at a time, and end with their session", async () => {
    const own = await at.open(["good"]);
    const answers = await Promise.all([1, 2, 3].map((n) => own.answer("good__other", { n })));
    assert.deepEqual(answers, [{ text: "call 1" }, { text: "call 2" }, { text: "call 3" }]);
    const before = (await processesWith(join(at.shared, "good"))).length;
    await own.session.close();
    assert.ok((await processesWith(join(at.shared, "good"))).length < before);
  });
});

describe("pinned definitions", { timeout: 300_000 }, () => {
  let at: McpHome;
  before(async () => {
    at = await createMcpHome();
  });
  after(() => at.remove());

  const hashOf = (name: string): string => {
    const found = at.kernel.listTools({ allVersions: false }).find(({ declaration }) => declaration.name === name);
    return Buffer.from(found?.definitionHash ?? []).toString("hex");
  };

  it("are available at the next start without the server, and stay when it adds tools", async () => {
    const mood = join(at.shared, "mood");
    await at.configure({ pinned: oddServer("good", mood) });
    await at.start(permits("pinned__speak"));
    const before = hashOf("pinned__speak");
    await at.stop();
    await writeFile(mood, "more");
    await at.start(permits("pinned__speak"));
    assert.equal(hashOf("pinned__speak"), before);
    assert.equal(hashOf("pinned__further"), "");
    const session = await at.open(["pinned"]);
    assert.deepEqual(await session.answer("pinned__speak", { words: "still" }), { text: "still" });
    assert.equal((await session.failure("pinned__further")).code, "TOOL_NOT_FOUND");
    await at.stop();
  });

  for (const odd of ["description", "schema", "annotations", "output", "renamed", "gone"]) {
    it(`that changed are quarantined, and others continue: ${odd}`, async () => {
      const mood = join(at.shared, "mood");
      await writeFile(mood, odd);
      await at.start(permits("pinned__speak", "pinned__other"));
      const session = await at.open(["pinned"]);
      assert.equal((await session.failure("pinned__speak", { words: "1" })).code, "TOOL_QUARANTINED");
      assert.equal((await session.failure("pinned__speak", { words: "2" })).code, "TOOL_QUARANTINED");
      assert.deepEqual(await session.answer("pinned__other"), { text: "call 1" });
      // Its first face does not help it.
      await writeFile(mood, "");
      const fresh = await at.open(["pinned"]);
      assert.equal((await fresh.failure("pinned__speak")).code, "TOOL_QUARANTINED");
      const { state } =
        at.kernel.listTools({ allVersions: false }).find((one) => one.declaration.name === "pinned__speak") ?? {};
      assert.equal(state, "quarantined");
      const recorded: string[] = [];
      for (const { record } of await at.kernel.listRecords({ chain: "system", limit: 100 })) {
        for (const { kind } of fromBinary(RecordSchema, record).entries) {
          if (kind.case === "toolQuarantined") recorded.push(kind.value.toolName);
        }
      }
      assert.ok(recorded.includes("pinned__speak"));
      await at.stop();
    });
  }

  it("belong to another tool, without its approvals, if the command or files changed", async () => {
    await at.start();
    const before = hashOf("pinned__speak");
    await at.stop();
    const server = oddServer("good", join(at.shared, "mood"));
    await at.configure({ pinned: { ...server, env: { LEVEL: "2" } } });
    await at.start();
    assert.notEqual(hashOf("pinned__speak"), before);
    await at.stop();
  });

  it("that are damaged are not used", async () => {
    await writeFile(join(at.home, "mcp/pinned.json"), '{"format": 1, "server": "pinned", "tools": [{"name": "x"}]}');
    await at.start();
    assert.equal(hashOf("pinned__speak"), "");
    assert.ok(at.logged.some(({ problem }) => String(problem).includes("narthex tools trust pinned")));
    await at.stop();
  });
});

describe("the configuration of MCP servers", { timeout: 300_000 }, () => {
  let at: McpHome;
  before(async () => {
    at = await createMcpHome();
  });
  after(() => at.remove());

  it("is not taken from a workspace, and neither are a server's programs", async () => {
    await writeFile(join(at.workspace, "narthex.yaml"), JSON.stringify({ mcp_servers: { evil: oddServer("good") } }));
    await writeFile(join(at.workspace, ".mcp.json"), JSON.stringify({ mcpServers: { evil: { command: "node" } } }));
    const server = join(at.workspace, "server.ts");
    await cp(ODD_SERVER, server);
    await chmod(at.workspace, 0o755);
    await at.configure({
      good: oddServer("environment"),
      inside: { command: [process.execPath, server, "good"], files: [server] },
    });
    await at.start(permits("good__speak", "inside__speak"));
    const servers = at.kernel.listTools({ allVersions: false }).map(({ declaration }) => declaration.name.split("__"));
    assert.deepEqual(
      [...new Set(servers.filter((parts) => parts.length > 1).map(([name]) => name))],
      ["good", "inside"],
    );
    const session = await at.open(["good", "inside"]);
    const refused = await session.failure("inside__speak");
    assert.equal(refused.code, "SANDBOX_UNAVAILABLE");
    assert.match(refused.message, /an agent could change what it runs/);
    const { text } = (await session.answer("good__speak")) as { text: string };
    assert.equal((JSON.parse(text) as JsonObject)["cwd"], "/");
    await at.stop();
  });

  it("lowers a tool's tier where it says so", async () => {
    await at.configure({ hints: { ...oddServer("hints"), tier: "read_only", effects: [] } });
    await at.start(FREE);
    const session = await at.open(["hints"]);
    assert.deepEqual(await session.answer("hints__speak", { words: "free" }), { text: "free" });
    assert.deepEqual((await session.call("hints__speak", { words: "b" })).metadata.labels, ["untrusted"]);
    await at.stop();
  });

  it("passes secrets only to the servers that it names", async () => {
    const value = "correct horse battery";
    process.env["MCP_TEST_SECRET"] = value;
    const secrets = { key: { env: "MCP_TEST_SECRET" }, lost: { env: "MCP_TEST_NOWHERE" } };
    await at.configure(
      {
        keyed: { ...oddServer("environment"), secrets: { API_KEY: "key" } },
        lost: { ...oddServer("good"), secrets: { API_KEY: "lost" } },
      },
      { secrets },
    );
    await at.start(permits("keyed__speak"));
    delete process.env["MCP_TEST_SECRET"];
    const session = await at.open(["keyed"]);
    const { text } = (await session.answer("keyed__speak")) as { text: string };
    assert.equal((JSON.parse(text) as JsonObject)["API_KEY"], "[secret key]");
    assert.ok(!text.includes(value));
    assert.ok(
      at.logged.some(({ server, problem }) => server === "lost" && /`lost` is not there/.test(String(problem))),
    );
    await at.stop();
  });
});

/** Bounded: what was killed is gone within moments. */
async function untilGone(mark: string): Promise<void> {
  for (let tries = 0; (await processesWith(mark)).length > 0; tries++) {
    assert.ok(tries < 1000, `still there: ${mark}`);
  }
}
