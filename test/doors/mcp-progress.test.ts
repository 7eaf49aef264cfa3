import assert from "node:assert/strict";
import { chown, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { after, before, describe, it } from "node:test";
import { Client } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { isJsonObject, type JsonValue } from "@narthex/contracts";
import { createTestHome, type TestHome } from "../cli/home.ts";

const RULES = '@id("shell") @approve("none") permit(principal, action == Action::"shell_exec", resource);\n';

describe("the official MCP client, over standard input and output", { timeout: 120_000 }, () => {
  let at: TestHome;
  let client: Client;
  before(async () => {
    at = await createTestHome();
    if (process.getuid?.() === 0) await chown(at.workspace, 1000, 1000);
    await at.ask(["init"]);
    await writeFile(join(at.home, "policy/shell.cedar"), RULES, { mode: 0o600 });
    client = new Client({ name: "test", version: "1.0.0" });
    const transport = new StdioClientTransport({
      command: process.execPath,
      args: [at.program, "mcp", "--workspace", at.workspace],
      env: { HOME: at.root, NARTHEX_DATA: at.home, PATH: process.env["PATH"] ?? "" },
    });
    await client.connect(transport);
  });
  after(async () => {
    await client.close();
    await at.remove();
  });

  it("is told of a command's output while it runs, before the result", async () => {
    const heard: number[] = [];
    const first = Promise.withResolvers<void>();
    let isAnswered = false;
    // The command waits until the client, having heard of its first line, lets it go on.
    const command = "echo first; until [ -e go-on ]; do sleep 0.05; done; echo second";
    const answering = client
      .callTool(
        { name: "shell_exec", arguments: { command } },
        {
          onprogress: ({ progress }) => {
            assert.ok(!isAnswered, "progress came after the result");
            heard.push(progress);
            first.resolve();
          },
        },
      )
      .finally(() => {
        isAnswered = true;
      });
    await Promise.race([first.promise, answering]);
    assert.ok(!isAnswered, "the result came without any progress");
    await writeFile(join(at.workspace, "go-on"), "");
    const answer = await answering;
    assert.notEqual(answer.isError, true, JSON.stringify(answer.content));
    assert.equal(fieldOf(fieldOf(answer.structuredContent as JsonValue, "stdout"), "text"), "first\nsecond\n");
    assert.equal(heard[0], "first\n".length);
    assert.deepEqual(
      heard,
      [...new Set(heard)].sort((a, b) => a - b),
      "progress only grows",
    );
  });

  it("is given a structure that is bounded like the text, as its schema promised, and where to read on", async () => {
    await client.listTools();
    const command = "seq 1 60000; echo short >&2";
    const answer = await client.callTool({ name: "shell_exec", arguments: { command } });
    assert.notEqual(answer.isError, true, JSON.stringify(answer.content));
    const structure = answer.structuredContent as JsonValue;
    assert.ok(Buffer.byteLength(JSON.stringify(structure)) <= 17 * 1024);
    const stdout = fieldOf(structure, "stdout");
    assert.match(
      String(fieldOf(stdout, "text")),
      /^1\n2\n3\n[^]*\n\[output truncated — original size: 2[\d,]+ bytes\]$/,
    );
    assert.deepEqual([fieldOf(stdout, "cut"), fieldOf(stdout, "size")], [true, 348_894]);
    assert.equal(fieldOf(fieldOf(structure, "stderr"), "text"), "short\n");
    const read = { hash: String(fieldOf(stdout, "hash")), offset: 348_888, limit: 6 };
    const rest = await client.callTool({ name: "result_read", arguments: read });
    assert.match(JSON.stringify(rest.content), /60000/);
  });

  it("is shown the description of each parameter", async () => {
    const { tools } = await client.listTools();
    const schema = tools.find(({ name }) => name === "file_read")?.inputSchema as JsonValue | undefined;
    assert.ok(isJsonObject(schema ?? null));
    const path = fieldOf(fieldOf(schema, "properties"), "path");
    assert.equal(fieldOf(path, "description"), "The file, relative to the working directory or absolute.");
  });

  it("is shown a file's text, and of other bytes how many there are", async () => {
    await writeFile(join(at.workspace, "text"), "grüße\n");
    await writeFile(join(at.workspace, "bytes"), Uint8Array.of(0, 0xff, 0xfe));
    for (const [path, shown] of [
      ["text", /^grüße\n$/],
      ["bytes", /^\[3 bytes that are not text; hash [0-9a-f]{64}\]$/],
    ] as const) {
      const { content } = await client.callTool({ name: "file_read", arguments: { path } });
      assert.match(String(fieldOf((content as JsonValue[])[0], "text")), shown);
    }
  });
});

function fieldOf(value: JsonValue | undefined, key: string): JsonValue | undefined {
  assert.ok(isJsonObject(value ?? null), `no object with ${key}`);
  return (value as Record<string, JsonValue>)[key];
}
