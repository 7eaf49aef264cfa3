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

  it("receives a command's output while it runs, before the result", async () => {
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
    assert.deepEqual(answer.content, [{ type: "text", text: "first\nsecond\n" }]);
    assert.equal(heard[0], "first\n".length);
    assert.deepEqual(
      heard,
      [...new Set(heard)].sort((a, b) => a - b),
      "progress only grows",
    );
  });

  const textOf = async (name: string, args: Record<string, unknown>): Promise<string> => {
    const { content, isError, structuredContent } = await client.callTool({ name, arguments: args });
    const [block, ...others] = content as readonly JsonValue[];
    assert.deepEqual([isError ?? false, structuredContent, others], [false, undefined, []], JSON.stringify(content));
    return String(fieldOf(block, "text"));
  };

  it("receives a command's output as plain text, and its exit code unless that is 0", async () => {
    await client.listTools();
    for (const [command, shown] of [
      ["true", "exit code 0, no output"],
      ["echo 'a \"b\"\tc'", 'a "b"\tc\n'],
      ["echo out; echo err >&2; exit 3", "exit code 3\nout\n[stderr]\nerr\n"],
      ["printf out; kill -9 $$", "exit code 137 (SIGKILL)\nout"],
    ] as const) {
      assert.equal(await textOf("shell_exec", { command }), shown, command);
    }
    const lost = await textOf("shell_exec", {
      command: "echo 'curl: (6) Could not resolve host: example.com' >&2; exit 6",
    });
    assert.match(lost, /^exit code 6\n\[stderr\]\ncurl: [^]*\n\[the sandbox has no network: .*"network_access": true/);
    assert.equal(await textOf("file_write", { path: "sub/a", content: "one\ntwo\n" }), "created, 8 bytes written");
    assert.equal(
      await textOf("file_edit", { path: "sub/a", old_content: "two", new_content: "2" }),
      "edited at line 2",
    );
    assert.equal(await textOf("file_list", { path: "sub" }), "a  6");
    assert.equal(await textOf("file_search", { pattern: "2", path: "sub" }), "sub/a:2:1: 2");
    assert.equal(await textOf("file_delete", { path: "sub/a" }), "deleted:\nsub/a");
  });

  it("receives both ends of long output in at most 16 KB, with the total size and how to read on", async () => {
    const command = "seq 1 60000; echo short >&2";
    const view = await textOf("shell_exec", { command });
    assert.ok(Buffer.byteLength(view) <= 16_384, `${view.length}`);
    const shown =
      /^1\n2\n[^]*\n\[… ([\d,]+) bytes left out …\]\n[^]*\n59999\n60000\n\[stderr\]\nshort\n\[read on with result_read (.*) \(stdout\)\]\n\[output truncated — original size: 348,900 bytes\]$/;
    const [, left = "", page = ""] = shown.exec(view) ?? assert.fail(view);
    assert.ok(Number(left.replaceAll(",", "")) > 330_000, left);
    const { hash, offset } = JSON.parse(page) as { hash: string; offset: number };
    const next = await textOf("result_read", { hash, offset });
    const before = view.split("\n[… ")[0]?.split("\n").at(-1);
    assert.ok(next.startsWith(`${Number(before) + 1}\n`), `${before}, then ${next.slice(0, 20)}`);
    assert.equal(await textOf("result_read", { hash, offset: 348_888, limit: 6 }), "60000\n");
  });

  it("receives the output of a command up to when it was killed", async () => {
    const late = { command: "echo begun; seq 1 20000; echo last words; sleep 60", timeout_ms: 2500 };
    const { content, isError } = await client.callTool({ name: "shell_exec", arguments: late });
    assert.equal(isError, true);
    const text = String(fieldOf((content as JsonValue[])[0], "text"));
    assert.match(
      text,
      /^TIMEOUT: [^]*\nIt had printed:\nbegun\n1\n[^]*\nlast words\n\[read on with result_read \{"hash"/,
    );
  });

  it("receives the description of each parameter", async () => {
    const { tools } = await client.listTools();
    const schema = tools.find(({ name }) => name === "file_read")?.inputSchema as JsonValue | undefined;
    assert.ok(isJsonObject(schema ?? null));
    const path = fieldOf(fieldOf(schema, "properties"), "path");
    assert.equal(fieldOf(path, "description"), "Relative to the working directory, or absolute.");
  });

  it("receives a file's text, pictures and documents as content, and the size of other binary files", async () => {
    const blocksOf = async (path: string, bytes: Uint8Array | string): Promise<readonly JsonValue[]> => {
      await writeFile(join(at.workspace, path), bytes);
      const { content, isError } = await client.callTool({ name: "file_read", arguments: { path } });
      assert.notEqual(isError, true, JSON.stringify(content));
      return content as JsonValue[];
    };
    assert.deepEqual(await blocksOf("text", "grüße\n"), [{ type: "text", text: "grüße\n" }]);
    const [bytes] = await blocksOf("bytes", Uint8Array.of(0, 0xff, 0xfe));
    assert.match(String(fieldOf(bytes, "text")), /^\[3 bytes that are not text; hash [0-9a-f]{64}\]$/);
    const png = Buffer.from(PNG, "base64");
    const [note, picture] = await blocksOf("a-picture-without-a-name", png);
    assert.match(String(fieldOf(note, "text")), /^\[\d+ bytes of image\/png; hash/);
    assert.deepEqual(picture, { type: "image", mimeType: "image/png", data: PNG });
    // More than travels with an answer: read back from the content store.
    const large = Buffer.concat([png.subarray(0, 33), chunkOf("tEXt", 1_200_000), png.subarray(33)]);
    const [, shown] = await blocksOf("large.png", large);
    assert.equal(fieldOf(shown, "data"), large.toString("base64"));
    const [, tooLarge] = await blocksOf(
      "huge.png",
      Buffer.concat([png.subarray(0, 33), Buffer.alloc(4_000_000), png.subarray(33)]),
    );
    assert.match(String(fieldOf(tooLarge, "text")), /^It is not shown: \d+ bytes are more than the 3932160/);
    const wide = Buffer.from(png);
    wide.writeUInt32BE(9000, 16);
    const [, tooWide] = await blocksOf("wide.png", wide);
    assert.match(String(fieldOf(tooWide, "text")), /^It is not shown: it has 9000 × 1 pixels/);
    const pdf = "%PDF-1.4\n1 0 obj\n<<>>\nendobj\n%%EOF\n";
    const [, document] = await blocksOf("paper", pdf);
    const { resource } = document as { resource: Record<string, string> };
    assert.deepEqual(
      [resource["mimeType"], resource["blob"]],
      ["application/pdf", Buffer.from(pdf).toString("base64")],
    );
    assert.equal((await blocksOf("cut.png", png.subarray(0, 40))).length, 1);
    assert.deepEqual(await blocksOf("not-a.pdf", "%PDF-1.4 is how one begins"), [
      { type: "text", text: "%PDF-1.4 is how one begins" },
    ]);
  });

  it("gets no hint to store content that belongs to another session", async () => {
    const { content } = await client.callTool({ name: "result_read", arguments: { hash: "00".repeat(32) } });
    const text = String(fieldOf((content as JsonValue[])[0], "text"));
    assert.match(text, /^CONTENT_NOT_FOUND: [^]*\nNext: .*make the call again/);
    assert.ok(!text.includes("cas put"), text);
  });
});

/** One pixel. */
const PNG = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";

function chunkOf(type: string, length: number): Buffer {
  const size = Buffer.alloc(4);
  size.writeUInt32BE(length);
  return Buffer.concat([size, Buffer.from(type), Buffer.alloc(length + 4, "x")]);
}

function fieldOf(value: JsonValue | undefined, key: string): JsonValue | undefined {
  assert.ok(isJsonObject(value ?? null), `no object with ${key}`);
  return (value as Record<string, JsonValue>)[key];
}
