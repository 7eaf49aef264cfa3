import assert from "node:assert/strict";
import { after, before, describe, it, test } from "node:test";
import { createKernel, defineTool, type KernelSession, type NarthexKernel } from "narthex";
import { createTestHome, ended, parseObject, readLines, type TestHome } from "./home.ts";

const ticks = defineTool({
  name: "ticks",
  description: "Streams three pieces, the last of which is no text.",
  inputSchema: true,
  resultType: "stream",
  tier: "read_only",
  async *run() {
    yield Buffer.from("one ");
    yield Buffer.from("two \u001b[2J");
    yield Uint8Array.of(0xff, 0x00);
  },
});

const bytes = defineTool({
  name: "bytes",
  description: "Answers two bytes that are no text.",
  inputSchema: true,
  resultType: "binary",
  tier: "read_only",
  run: () => Uint8Array.of(0xff, 0x00),
});

describe("commands through a kernel with embedded tools", { timeout: 60_000, concurrency: 2 }, () => {
  let at: TestHome;
  let kernel: NarthexKernel;
  let session: KernelSession;
  const interruptible = Promise.withResolvers<void>();

  before(async () => {
    at = await createTestHome();
    const slow = defineTool({
      name: "slow",
      description: "Runs until it is told to stop.",
      inputSchema: true,
      tier: "read_only",
      run: (input, { signal }) => {
        if (input === "interrupt me") interruptible.resolve();
        return new Promise<never>((_resolve, reject) => {
          signal.addEventListener("abort", () => reject(new Error("stopped")), { once: true });
        });
      },
    });
    const tools = [ticks, bytes, slow];
    const rules = tools.map(({ name }) => `@id("${name}") permit(principal, action == Action::"${name}", resource);`);
    kernel = await createKernel({ data: at.home, tools, policies: [{ name: "own.cedar", text: rules.join("\n") }] });
    session = await kernel.session({ workspace: at.workspace });
  });
  after(async () => {
    await kernel.close();
    await at.remove();
  });

  const call = (...args: readonly string[]) => ["call", ...args] as const;
  const asSession = () => ({ env: { NARTHEX_TOKEN: session.token } });

  it("stop waiting at a deadline and say so", async () => {
    const answer = await at.ask(call("slow", "--timeout", "300ms"), 1, asSession());
    assert.equal(answer["status"], "error");
    assert.equal(answer["error_code"], "TIMEOUT");
  });

  it("cancel a call when interrupted, and still print its outcome", async () => {
    const child = at.start(["call", "slow", '"interrupt me"', "--json"], asSession());
    const nextLine = readLines(child);
    await interruptible.promise;
    child.kill("SIGINT");
    const answer = parseObject(await nextLine());
    assert.equal(answer["error_code"], "CANCELLED");
    assert.equal(await ended(child), 1);
  });

  it("print binary output as base64 in JSON and raw into a pipe", async () => {
    assert.deepEqual((await at.ask(call("bytes"), 0, asSession()))["result"], { base64: "/wA=" });
    assert.deepEqual((await at.ask(call("ticks"), 0, asSession()))["result"], {
      base64: Buffer.from("one two \u001b[2J\u00ff\u0000", "latin1").toString("base64"),
    });
  });

  it("print output while the tool runs, then the response without it", async () => {
    const { code, stdout } = await at.run(call("ticks", "--stream", "--json"), asSession());
    assert.equal(code, 0);
    const lines = stdout.trimEnd().split("\n").map(parseObject);
    const answer = lines.pop();
    assert.deepEqual(lines, [{ chunk: "one " }, { chunk: "two \u001b[2J" }, { chunk: { base64: "/wA=" } }]);
    assert.equal(answer?.["status"], "success");
    assert.equal(answer?.["result_size"], 14);
    assert.equal("result" in (answer ?? {}), false);
  });

  it("list the tools that a session can call", async () => {
    const names = JSON.stringify((await at.ask(["tools", "list"], 0, asSession()))["tools"]);
    for (const name of ["ticks", "slow", "echo"]) assert.ok(names.includes(`"name":"${name}"`), name);
  });
});

test("a program cannot take a home from an on-demand kernel, and is told how to stop it", async () => {
  const at = await createTestHome();
  try {
    const client = at.start(["mcp", "--workspace", at.workspace]);
    const params = { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "test", version: "1" } };
    client.stdin.write(`${JSON.stringify({ jsonrpc: "2.0", id: 1, method: "initialize", params })}\n`);
    await readLines(client)();
    const { pid } = await at.ask(["status"]);
    await assert.rejects(createKernel({ data: at.home }), {
      code: "HOME_BUSY",
      message: new RegExp(
        `^a kernel that was started on demand \\(process ${String(pid)}, .*\\) holds the home .*; ` +
          `\`narthex stop --data ${at.home}\` ends it$`,
      ),
    });
    await at.ask(["stop"]);
    client.stdin.end();
    await ended(client);
  } finally {
    await at.remove();
  }
});
