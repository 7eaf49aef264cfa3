import assert from "node:assert/strict";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import { kernelsOf } from "../../scripts/build/on-demand-kernels.ts";
import {
  createTestHome,
  ended,
  objectOf,
  objectsOf,
  parseObject,
  readLines,
  type Running,
  type TestHome,
  textOf,
} from "./home.ts";

/** One MCP client, by hand: every line it receives must be the protocol. */
interface McpClient {
  readonly child: Running;
  request(method: string, params: JsonObject): Promise<JsonObject>;
  /** Sends a line as it is, and gives the next one that comes. */
  sendLine(line: string): Promise<JsonObject>;
  /** Hangs up and gives the exit code. */
  leave(): Promise<number | null>;
}

function connect(child: Running): McpClient {
  const nextLine = readLines(child);
  let id = 0;
  const send = (message: JsonObject): boolean =>
    child.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  return {
    child,
    async request(method, params) {
      id += 1;
      send({ id, method, params });
      const answer = parseObject(await nextLine());
      assert.equal(answer["id"], id);
      if (method === "initialize") send({ method: "notifications/initialized" });
      return objectOf(answer["result"]);
    },
    async sendLine(line) {
      child.stdin.write(`${line}\n`);
      return parseObject(await nextLine());
    },
    leave() {
      child.stdin.end();
      return ended(child);
    },
  };
}

/** A client sends the list with every turn of a conversation. */
const MAX_LISTED_BYTES = 12 * 1024;

const HELLO = {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "test", version: "1" },
};

describe("mcp", { timeout: 120_000 }, () => {
  let at: TestHome;
  let client: McpClient;
  before(async () => {
    at = await createTestHome();
  });
  after(() => at.remove());

  const start = (...options: readonly string[]) => connect(at.start(["mcp", "--workspace", at.workspace, ...options]));

  it("prints on the error stream only why it cannot start", async () => {
    for (const args of [["mcp"], ["mcp", "--json"], ["mcp", "--workspace", at.root, "--json"]]) {
      const { code, stdout, stderr } = await at.run(args);
      assert.ok(code === 2 || code === 4, stderr);
      assert.equal(stdout, "");
      assert.match(stderr, /error: /);
    }
  });

  it("rejects a directory of root's at once, and says how to adopt it", async (t) => {
    if (process.getuid?.() !== 0) return t.diagnostic("only root owns such a directory");
    const owned = join(at.root, "owned");
    await mkdir(owned);
    const { code, stderr } = await at.run(["mcp", "--workspace", owned]);
    assert.equal(code, 4);
    assert.match(stderr, /`.*owned` belongs to root: .*\ncode: {2}WORKSPACE_REFUSED\nnext: {2}say --adopt /);
    assert.deepEqual(await kernelsOf(at.home), []);
  });

  it("starts a kernel if none runs, and other clients find it", async () => {
    client = start("--agent", "first");
    const { instructions } = await client.request("initialize", HELLO);
    const listed = await client.request("tools/list", {});
    assert.ok(Buffer.byteLength(JSON.stringify(listed)) <= MAX_LISTED_BYTES, JSON.stringify(listed));
    const tools = objectsOf(listed["tools"]).map((tool) => textOf(tool["name"]));
    assert.ok(tools.includes("file_read") && !tools.includes("read_file") && !tools.includes("http_fetch"));
    // Clients check arguments by themselves, so both spellings are listed.
    const git = objectsOf(listed["tools"]).find((tool) => tool["name"] === "git");
    assert.match(JSON.stringify(git), /"enum":\[.*"STATUS".*"status"/);
    const named = textOf(instructions).match(/\b[a-z]+_[a-z]+\b/g) ?? [];
    assert.deepEqual(
      named.filter((name) => !tools.includes(name)),
      [],
    );
    assert.match(textOf(instructions), /\(git\).* up to 45 s, then answers APPROVAL_PENDING.* with result_read/s);
    const descriptions = objectsOf(listed["tools"])
      .map((tool) => textOf(tool["description"]))
      .join("\n");
    assert.match(descriptions, /Run at once, for example: ls, .*npm test.*waits for a person's approval/);
    const answer = await client.request("tools/call", { name: "hash", arguments: { data: "abc" } });
    assert.ok(JSON.stringify(answer).includes("6437b3ac38465133ffb63b75273a8db548c558465d79db03fd359c6cd5bd9d85"));
    const [session] = objectsOf((await at.ask(["session", "list"]))["sessions"]);
    assert.deepEqual([session?.["agent"], session?.["calls"]], ["first", 1]);
    const status = await at.ask(["status"]);
    assert.deepEqual([status["command"], status["on_demand"], status["clients"]], ["serve --on-demand", true, 1]);
    assert.notEqual(status["pid"], client.child.pid);
  });

  it("tells a model what was denied, why, and what would be allowed, and nothing else", async () => {
    for (const [name, input, told] of [
      [
        "file_write",
        { path: ".git/config", content: "" },
        "Denied (NO_MATCHING_RULE): `.git/config` is protected: no rule permits `write_protected`\n" +
          "Allowed on paths that are not protected: file_write by rule write-workspace.\nNext: ",
      ],
      [
        "file_delete",
        { pth: "a", recursive: 1 },
        "INVALID_INPUT: missing required field 'path' in arguments\n" +
          "INVALID_INPUT: field 'pth' in arguments: unknown field 'pth'; allowed: path, recursive\n" +
          "INVALID_INPUT: field 'recursive' in arguments: expected boolean, got integer\n" +
          "Expected arguments: { path: string, recursive?: boolean }",
      ],
      [
        "http_fetch",
        { url: "https://a.example/" },
        "Denied (CAPABILITY_MISSING): the lease lacks net_read a.example:443\nNext: ",
      ],
      ["file_reed", {}, "TOOL_NOT_FOUND: there is no tool `file_reed`; did you mean `file_read`?\nYour tools: "],
    ] as const) {
      const answer = await client.request("tools/call", { name, arguments: input });
      const [block] = objectsOf(answer["content"]);
      const text = textOf(block?.["text"]);
      assert.deepEqual([answer["isError"], text.slice(0, told.length)], [true, told]);
      assert.ok(!/without-effects|ask-network|narthex tools/.test(text), text);
    }
  });

  it("responds to malformed lines with an error, and continues", async () => {
    const call = (input: string) =>
      `{"jsonrpc":"2.0","id":7,"method":"tools/call","params":{"name":"echo","arguments":${input}}}`;
    for (const [line, code] of [
      ['{"id": 7,', -32700],
      [call('{"a":1,"a":2}'), -32700],
      [call('{"a":9007199254740993}'), -32700],
      [call(`${"[".repeat(10_000)}${"]".repeat(10_000)}`), -32700],
      ['[{"jsonrpc":"2.0","id":7,"method":"ping"}]', -32600],
      ['{"id":7,"hello":true}', -32600],
      ["x".repeat(20 * 1024 * 1024), -32600],
    ] as const) {
      const answer = await client.sendLine(line);
      assert.equal(objectOf(answer["error"])["code"], code, line.slice(0, 60));
    }
    const echoed = await client.request("tools/call", { name: "echo", arguments: { still: "there" } });
    assert.match(JSON.stringify(echoed), /still/);
    const report = await at.ask(["ledger", "verify"]);
    assert.deepEqual([report["intact"], report["complete"]], [true, true]);
  });

  it("closes its session when its client leaves", async () => {
    assert.equal(await client.leave(), 0);
    assert.deepEqual((await at.ask(["session", "list"]))["sessions"], []);
  });

  it("leaves a kernel that `status` shows and `stop` ends", async () => {
    const stopped = await at.ask(["stop"]);
    assert.equal(stopped["stopped"], true);
    assert.deepEqual(await kernelsOf(at.home), []);
    assert.deepEqual(await at.ask(["status"]), { running: false });
    assert.deepEqual(await at.ask(["stop"]), { stopped: false });
  });

  it("connects to the kernel that holds the home, and closes its session at the end", async () => {
    const kernel = await at.serve();
    const guest = start("--agent", "guest");
    await guest.request("initialize", HELLO);
    const answer = await guest.request("tools/call", { name: "hash", arguments: { wrong: 1 } });
    assert.equal(answer["isError"], true);
    assert.match(JSON.stringify(answer), /unknown field/);
    const [session] = objectsOf((await at.ask(["session", "list"]))["sessions"]);
    assert.equal(session?.["agent"], "guest");
    const refused = await at.ask(["stop"], 5);
    assert.match(textOf(objectOf(refused["error"])["message"]), /`serve` \(process \d+\) was not started on demand/);
    assert.equal(await guest.leave(), 0);
    assert.deepEqual((await at.ask(["session", "list"]))["sessions"], []);
    assert.equal(await kernel.stop(), 0);
  });
});
