import assert from "node:assert/strict";
import { test } from "node:test";
import { createMemoryContentStore, createMemoryStore, createTestKernel, echoTool } from "@narthex/testkit";
import { toHex } from "@narthex/contracts";
import type { CallResult } from "../../kernel.ts";
import { defineTool } from "../../tool/define-tool.ts";
import type { ResultType, ToolOutput } from "../../tool/tool.ts";

function codeOf({ response: { result } }: CallResult): string | undefined {
  return result.case === "error" ? result.value.errorCode : result.case;
}

function viewOf({ response: { result } }: CallResult): string {
  return result.case === "success" ? result.value.view : assert.fail(result.case);
}

async function returning(resultType: ResultType, output: unknown, extra: object = {}): Promise<CallResult> {
  const tool = defineTool({
    name: "gives",
    description: "Gives something.",
    inputSchema: true,
    resultType,
    tier: "read_only",
    ...extra,
    run: () => output as ToolOutput as never,
  });
  const { open } = await createTestKernel({ tools: [tool] });
  return (await open()).call("gives", {});
}

test("output that differs from its declaration is INVALID_OUTPUT", async () => {
  const wrong: [ResultType, unknown][] = [
    ["object", "text"],
    ["object", [1]],
    ["object", null],
    ["array", {}],
    ["string", 1],
    ["string", "\ud800"],
    ["binary", "text"],
    ["json", undefined],
    ["json", Number.NaN],
    ["json", { a: 1n }],
    ["json", new Uint8Array(1)],
    ["json", "\udc00"],
    ["stream", "text"],
  ];
  for (const [type, output] of wrong)
    assert.equal(codeOf(await returning(type, output)), "INVALID_OUTPUT", `${type} ${String(output)}`);
});

test("names every violation of the output schema: wrong type, missing and extra fields", async () => {
  const outputSchema = {
    type: "object",
    properties: { a: { type: "number" }, b: { type: "string" } },
    required: ["a", "b"],
    additionalProperties: false,
  };
  const result = await returning("object", { a: "x", c: 1 }, { outputSchema });
  assert.equal(codeOf(result), "INVALID_OUTPUT");
  assert.ok(result.response.result.case === "error" && result.response.result.value.violations.length >= 3);
});

test("every kind of result has its normalised form", async () => {
  const given: [ResultType, ToolOutput, string][] = [
    ["json", { b: 1, a: -0 }, '{"a":0,"b":1}'],
    ["object", { z: [1, 2] }, '{"z":[1,2]}'],
    ["array", [{ b: 1, a: 2 }], '[{"a":2,"b":1}]'],
    ["string", "grüße", "grüße"],
    ["binary", Buffer.from([104, 105]), "hi"],
    ["binary", new Uint8Array(0), ""],
    ["binary", Buffer.from([0, 0xff, 0xfe, 13, 10, 0xc3]), "\0\xff\xfe\r\n\xc3"],
  ];
  for (const [type, output, text] of given) {
    const result = await returning(type, output);
    assert.equal(codeOf(result), "success", type);
    const inline = result.response.result.case === "success" ? result.response.result.value.inlineResult : undefined;
    assert.equal(Buffer.from(inline ?? []).toString(type === "binary" ? "latin1" : "utf8"), text);
  }
});

test("a view is cut on a character boundary, says how to read on, and ends with the exact line", async () => {
  const text = "é".repeat(71_427) + "fin";
  const result = await returning("string", text);
  const lines = viewOf(result).split("\n");
  assert.equal(lines.at(-1), "[output truncated — original size: 142,857 bytes]");
  const hash = toHex(result.hash ?? new Uint8Array());
  assert.match(lines.at(-2) ?? "", new RegExp(`^\\[read on with result_read \\{"hash":"${hash}","offset":8024\\}\\]$`));
  assert.equal(lines[0], "é".repeat(4012));
  assert.equal(lines[1], "[… 126,810 bytes left out …]");
  assert.match(lines[2] ?? "", /^é{4010}fin$/);
  assert.equal(lines.length, 5);
  assert.equal(result.metadata.cut, true);
});

test("the view of a stream too long for memory includes its end, also in a repeat", async () => {
  const counting = defineTool({
    name: "counts",
    description: "Counts.",
    inputSchema: true,
    resultType: "stream",
    tier: "read_only",
    async *run() {
      for (let last = 0; last < 300_000; last += 1000) {
        yield Buffer.from(Array.from({ length: 1000 }, (_, at) => `${last + at + 1}\n`).join(""));
      }
    },
  });
  const [store, contentStore] = [createMemoryStore(), createMemoryContentStore()];
  const { open } = await createTestKernel({ tools: [counting], store, contentStore });
  const session = await open();
  const view = viewOf(await session.call("counts", {}, { requestId: "r" }));
  assert.match(
    view,
    /^1\n2\n[^]*\n\[… [\d,]+ bytes left out …\]\n[^]*\n299999\n300000\n\[read on with [^]*\n\[[^\n]*\]$/,
  );
  assert.ok(Buffer.byteLength(view) <= 16_384);
  const again = await createTestKernel({ tools: [counting], store, contentStore });
  const call = { token: session.token, tool: "counts", input: {}, requestId: "r" };
  assert.equal(viewOf(await again.kernel.callInProcess(call)), view);
});

test("the lower of a tool's max_output_bytes and the kernel's view_bytes cuts a view", async () => {
  const shown = async (maxOutputBytes: number, viewBytes: number): Promise<void> => {
    const tool = defineTool({
      name: "gives",
      description: "Gives something.",
      inputSchema: true,
      resultType: "string",
      tier: "read_only",
      bounds: { maxOutputBytes },
      run: () => "x".repeat(20_000),
    });
    const { open } = await createTestKernel({ tools: [tool], settings: { viewBytes } });
    const length = Buffer.byteLength(viewOf(await (await open()).call("gives", {})));
    const most = Math.min(maxOutputBytes, viewBytes);
    assert.ok(length <= most && length > most - 300, `${length} of ${most}`);
  };
  await Promise.all([shown(1000, 16_384), shown(10_000, 2000), shown(3000, 3000)]);
});

test("a cut never splits a character of two, three or four bytes", async () => {
  for (const character of ["é", "€", "😀"]) {
    for (let shift = 0; shift < 4; shift++) {
      const text = "x".repeat(shift) + character.repeat(20_000);
      assert.ok(!viewOf(await returning("string", text)).includes("\ufffd"));
    }
  }
});

test("bytes that are not text are shown as a note with their size", async () => {
  assert.match(viewOf(await returning("binary", new Uint8Array(2000).fill(0xff))), /2,000 bytes that are not text/);
});

test("redacts secrets in result, view and error", async () => {
  const redactors = [{ secrets: ["hunter2", "hunter2-long"], replacement: "[hidden]" }];
  const result = await returning("json", { "key hunter2": ["is hunter2-long!"] }, { redactors });
  assert.deepEqual(result.raw, { "key [hidden]": ["is [hidden]!"] });
  assert.ok(!viewOf(result).includes("hunter2"));
  const failing = defineTool({
    name: "fails",
    description: "Fails loudly.",
    inputSchema: true,
    tier: "read_only",
    redactors,
    run: () => {
      throw new Error("cannot log in with hunter2");
    },
  });
  const logged: unknown[] = [];
  const { open, kernel } = await createTestKernel({ tools: [failing], logger: (...line) => void logged.push(line) });
  const failed = await (await open()).call("fails", {});
  assert.ok(failed.response.result.case === "error" && failed.response.result.value.message.includes("[hidden]"));
  assert.ok(!JSON.stringify(logged).includes("hunter2"));
  for (const stored of await kernel.listRecords({ limit: 100 })) {
    assert.ok(!Buffer.from(stored.content).includes("hunter2"));
  }
});

test("redacts secrets that a stream splits in two", async () => {
  const tool = defineTool({
    name: "stream",
    description: "Streams.",
    inputSchema: true,
    resultType: "stream",
    tier: "read_only",
    redactors: [{ secrets: ["hunter2"], replacement: "[hidden]" }],
    run: async function* () {
      for (const character of "password hunter2 and hunte r2, hunter") yield Buffer.from(character);
    },
  });
  const seen: Uint8Array[] = [];
  const { open } = await createTestKernel({ tools: [tool] });
  const result = await (await open()).call("stream", {}, { onChunk: (chunk) => void seen.push(chunk.slice()) });
  assert.equal(Buffer.from(result.normalised ?? []).toString(), "password [hidden] and hunte r2, hunter");
  assert.equal(Buffer.concat(seen).toString(), "password [hidden] and hunte r2, hunter");
});

test("labels pass from content to the session that reads it, and to everything the session makes afterwards", async () => {
  const reader = defineTool({
    name: "reader",
    description: "Reads content.",
    inputSchema: { type: "object", properties: { hash: { type: "string" } }, required: ["hash"] } as const,
    resultType: "binary",
    tier: "read_only",
    run: (input, context) => context.content.read(input.hash, 0, 0),
  });
  const { open, kernel } = await createTestKernel({ tools: [reader, echoTool] });
  const session = await open();
  const chunks = async function* () {
    yield Buffer.from("from the web");
  };
  const put = await kernel.putContent({ sessionId: session.id, door: "test", labels: ["untrusted"], chunks: chunks() });
  const read = await session.call("reader", { hash: toHex(put.hash) });
  assert.deepEqual(read.metadata.labels, ["untrusted"]);
  assert.deepEqual((await kernel.getSession(session.id))?.session.labels, ["untrusted"]);
  assert.deepEqual((await session.call("echo", 1)).metadata.labels, ["untrusted"]);
});

test("rejects naming content of another session", async () => {
  const reader = defineTool({
    name: "reader",
    description: "Reads content.",
    inputSchema: { type: "object", properties: { hash: { type: "string" } }, required: ["hash"] } as const,
    resultType: "binary",
    tier: "read_only",
    run: (input, context) => context.content.read(input.hash, 0, 0),
  });
  const { open } = await createTestKernel({ tools: [reader, echoTool] });
  const [mine, other] = [await open(), await open()];
  const made = await mine.call("echo", "mine");
  const hash = toHex(made.hash ?? new Uint8Array());
  assert.equal(codeOf(await mine.call("reader", { hash })), "success");
  for (const wrong of [hash, "00".repeat(32), "../../etc/passwd", ""]) {
    assert.equal(codeOf(await other.call("reader", { hash: wrong })), "CONTENT_NOT_FOUND");
  }
});

test("treats the name of a prototype property as an ordinary key, in result and view", async () => {
  const output: unknown = JSON.parse('{"__proto__":{"polluted":true},"constructor":1}');
  const result = await returning("json", output);
  assert.equal(Buffer.from(result.normalised ?? []).toString(), '{"__proto__":{"polluted":true},"constructor":1}');
  assert.equal(Reflect.get({}, "polluted"), undefined);
});

test("keeps a very large binary result whole, names it in the view, and does not send it inline", async () => {
  const { normalised, response, hash } = await returning("binary", new Uint8Array(20_000_000).fill(0xff));
  assert.equal(normalised, undefined);
  assert.equal(hash?.length, 32);
  assert.ok(response.result.case === "success");
  assert.equal(response.result.value.inlineResult.length, 0);
  assert.match(response.result.value.view, /^\[20,000,000 bytes that are not text; hash [0-9a-f]{64}\]$/);
});
