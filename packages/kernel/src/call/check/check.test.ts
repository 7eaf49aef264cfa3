import assert from "node:assert/strict";
import { test } from "node:test";
import {
  blake3,
  ContentRole,
  create,
  encode,
  fromBinary,
  isJsonObject,
  type JsonValue,
  MAX_WRITE_SIZE,
  RecordContentSchema,
  toHex,
  ToolRequestSchema,
} from "@narthex/contracts";
import { createTestKernel, createTestPolicy, type TestSession } from "@narthex/testkit";
import * as fc from "fast-check";
import { RUNS_ALL } from "../../../../../test/sampled.ts";
import type { CallResult, Kernel } from "../../kernel.ts";
import { defineTool } from "../../tool/define-tool.ts";
import type { Tool } from "../../tool/tool.ts";
import { findSecretReferences } from "./secret-references.ts";

type Variant = NonNullable<Parameters<typeof create<typeof ToolRequestSchema>>[1]>["tool"];

/** Tools behind the wire's typed messages that tell what they were given. */
function tellingTools(): { readonly tools: readonly Tool[]; readonly seen: JsonValue[] } {
  const seen: JsonValue[] = [];
  const names = ["file_read", "file_write", "file_edit", "shell_exec", "git", "inference", "artifact_publish"];
  const tools = names.map((name) =>
    defineTool({
      name,
      description: "Tells what it was given.",
      inputSchema: true,
      tier: "read_only",
      run: (input) => {
        seen.push(input);
        return null;
      },
    }),
  );
  return { tools, seen };
}

async function send(kernel: Kernel, { token }: TestSession, requestId: string, tool: Variant) {
  const request = create(ToolRequestSchema, { requestId, sessionToken: token, ...(tool && { tool }) });
  const { result } = await kernel.call({ request: encode(request), door: "test" });
  return result;
}

function errorOf({ response: { result } }: Pick<CallResult, "response">) {
  return result.case === "error" ? result.value : assert.fail(result.case);
}

async function requestDigest(kernel: Kernel, session: TestSession, requestId: string): Promise<string> {
  const stored = await kernel.findCall(session.id, requestId);
  const items = fromBinary(RecordContentSchema, stored?.content ?? assert.fail()).items;
  return toHex(items.find((item) => item.role === ContentRole.REQUEST)?.digest ?? assert.fail());
}

test("rejects an object in the reserved form of a secret reference in ordinary input", async () => {
  const { tools, seen } = tellingTools();
  const { open } = await createTestKernel({ tools });
  const session = await open();
  const inputs: readonly [JsonValue, string][] = [
    [{ $secret: "token" }, "$"],
    [{ a: { $secret: "token" } }, "a"],
    [{ a: [1, { b: { $secret: "token" } }] }, "a[1].b"],
    [[{ $secret: 1 }], "$[0]"],
    [{ a: { $secret: "token", more: 1 } }, "a"],
    [JSON.parse('{"__proto__":{"$secret":"token"}}'), "__proto__"],
    [JSON.parse('{"\\u0024secret":"token"}'), "$"],
  ];
  for (const [input, field] of inputs) {
    const error = errorOf(await session.call("git", input));
    assert.equal(error.errorCode, "INVALID_INPUT");
    assert.deepEqual(
      error.violations.map((violation) => violation.field),
      [field],
    );
  }
  assert.deepEqual(seen, []);
  assert.equal((await session.call("git", { secret: "$secret", $secrets: 1 })).status, "success");
});

test("a tool that takes secrets accepts the names of known secrets only", async () => {
  const { tools, seen } = tellingTools();
  const [telling] = tools;
  assert.ok(telling !== undefined);
  const taking = { ...telling, name: "taking", takesSecrets: true };
  const secretNames = new Set(["token", "__proto__"]);
  const { open } = await createTestKernel({ tools: [...tools, taking], secretNames });
  const session = await open();
  const refused: readonly [JsonValue, string[]][] = [
    [{ a: { $secret: "other" } }, ["a"]],
    [{ a: { $secret: "Token" } }, ["a"]],
    [{ a: { $secret: "" } }, ["a"]],
    [{ a: { $secret: 1 } }, ["a"]],
    [{ a: { $secret: ["token"] } }, ["a"]],
    [{ a: { $secret: { $secret: "token" } } }, ["a"]],
    [{ a: { $secret: "constructor" } }, ["a"]],
    // A second key beside a known name.
    [{ a: { $secret: "token", prefix: "x" } }, ["a"]],
    [{ a: { $secret: "token", "": null } }, ["a"]],
    [
      [{ $secret: "token" }, { $secret: "other" }, { b: { $secret: "more" } }],
      ["$[1]", "$[2].b"],
    ],
  ];
  for (const [input, fields] of refused) {
    const error = errorOf(await session.call("taking", input));
    assert.equal(error.errorCode, "INVALID_INPUT");
    assert.deepEqual(
      error.violations.map(({ field }) => field),
      fields,
      JSON.stringify(input),
    );
  }
  assert.deepEqual(seen, []);
  const known: JsonValue = [{ $secret: "token" }, { a: { $secret: "__proto__" } }];
  assert.equal((await session.call("taking", known)).status, "success");
  assert.deepEqual(seen, [known]);
  // Known to the kernel, and still nothing for a tool that takes none.
  assert.equal(errorOf(await session.call("git", known)).errorCode, "INVALID_INPUT");
});

test("finds secret references at any depth, and mistakes nothing else for one", () => {
  fc.assert(
    fc.property(fc.jsonValue(), (value) => {
      const text = JSON.stringify(value);
      assert.equal(findSecretReferences(value as JsonValue).length > 0, text.includes('"$secret":'));
    }),
  );
});

function writeMuch(kernel: Kernel, session: TestSession, byte: number): ReturnType<typeof send> {
  const content = new Uint8Array(MAX_WRITE_SIZE).fill(byte);
  return send(kernel, session, "much", { case: "fileWrite", value: { path: "a", content } });
}

test("a typed message carries 100 MB of content, more than JSON input may", async () => {
  const { tools, seen } = tellingTools();
  const { open, kernel } = await createTestKernel({ tools });
  assert.equal((await writeMuch(kernel, await open(), 0x61)).case, "success");
  const [given] = seen;
  assert.ok(isJsonObject(given) && String(given["content"]).length === MAX_WRITE_SIZE);
});

// To find out takes seconds.
if (RUNS_ALL) {
  test("rejects 100 MB of content that JSON would encode with six bytes each", async () => {
    const { tools, seen } = tellingTools();
    const { open, kernel } = await createTestKernel({ tools });
    const escaped = await writeMuch(kernel, await open(), 0x01);
    assert.deepEqual(escaped.case === "error" && [escaped.value.errorCode, escaped.value.violations[0]?.rule], [
      "INVALID_INPUT",
      "max_length",
    ]);
    assert.deepEqual(seen, []);
  });
}

test("a tool without a typed message is called through `call` only", async () => {
  const reached: string[] = [];
  const tool = (name: string): Tool =>
    defineTool({
      name,
      description: "Tells that it was reached.",
      inputSchema: true,
      tier: "read_only",
      run: () => reached.push(name),
    });
  const { tools } = tellingTools();
  const { open, kernel } = await createTestKernel({ tools: [...tools.map(({ name }) => tool(name)), tool("own")] });
  const session = await open();
  const hash = new Uint8Array(32).fill(1);
  const messages: Record<string, object> = {
    fileRead: { path: "a" },
    fileWrite: { path: "a" },
    fileEdit: { path: "a", oldContent: "b", newContent: "c" },
    shellExec: { command: "true" },
    gitOp: { operation: "STATUS" },
    inference: { provider: "p", model: "m", promptHash: hash, maxTokens: 1n },
    artifactPublish: { artifactId: "a", contentHash: hash, category: "c" },
  };
  const variants = ToolRequestSchema.oneofs.find(({ localName }) => localName === "tool")?.fields ?? [];
  const typed = variants.map(({ localName }) => localName).filter((name) => name !== "call");
  assert.deepEqual(typed.filter((name) => name !== "cancel").toSorted(), Object.keys(messages).toSorted());
  for (const [name, value] of Object.entries(messages)) {
    await send(kernel, session, name, { case: name, value } as Variant);
  }
  assert.deepEqual(reached.toSorted(), tools.map(({ name }) => name).toSorted());
  await session.call("own", null);
  assert.equal(reached.at(-1), "own");
});

test("a typed message and its JSON form are the same request", async () => {
  const { tools, seen } = tellingTools();
  const { open, kernel } = await createTestKernel({ tools });
  const session = await open();
  const hash = new Uint8Array(32).fill(0xab);
  const forms: readonly [Variant, string, JsonValue][] = [
    [
      { case: "artifactPublish", value: { artifactId: "a", contentHash: hash, category: "c", metadata: ["k=v"] } },
      "artifact_publish",
      { artifact_id: "a", content_hash: "ab".repeat(32), category: "c", metadata: ["k=v"] },
    ],
    [
      { case: "artifactPublish", value: { artifactId: "a", contentHash: hash, category: "c" } },
      "artifact_publish",
      { category: "c", content_hash: "ab".repeat(32), artifact_id: "a" },
    ],
    [{ case: "fileRead", value: { path: "a", offset: 5n } }, "file_read", { path: "a", offset: 5 }],
    [{ case: "fileWrite", value: { path: "a", content: new Uint8Array(0) } }, "file_write", { path: "a", content: "" }],
    [
      { case: "fileWrite", value: { path: "a", content: Uint8Array.of(0xff), append: true } },
      "file_write",
      { path: "a", content: "/w==", encoding: "base64", append: true },
    ],
    [
      { case: "fileEdit", value: { path: "a", oldContent: "x", newContent: "" } },
      "file_edit",
      { path: "a", old_content: "x", new_content: "" },
    ],
    [
      { case: "shellExec", value: { command: "ls", env: ["A=1", "__proto__=2"] } },
      "shell_exec",
      JSON.parse('{"command":"ls","env":{"A":"1","__proto__":"2"}}'),
    ],
    [{ case: "gitOp", value: { operation: "STATUS", args: ["-s"] } }, "git", { operation: "STATUS", args: ["-s"] }],
    [
      {
        case: "inference",
        value: { provider: "p", model: "m", promptHash: hash, maxTokens: 9n, temperatureScaled: 70 },
      },
      "inference",
      { provider: "p", model: "m", prompt_hash: "ab".repeat(32), max_tokens: 9, temperature_scaled: 70 },
    ],
  ];
  for (const [index, [typed, name, json]] of forms.entries()) {
    assert.equal((await send(kernel, session, `typed${index}`, typed)).case, "success");
    assert.equal((await session.call(name, json, { requestId: `json${index}` })).status, "success");
    assert.deepEqual(seen.at(-2), seen.at(-1));
    assert.equal(
      await requestDigest(kernel, session, `typed${index}`),
      await requestDigest(kernel, session, `json${index}`),
    );
    assert.equal((await send(kernel, session, `json${index}`, typed)).case, "success");
  }
});

test("integers of a typed message that a double cannot represent are INVALID_INPUT, by name", async () => {
  const { tools, seen } = tellingTools();
  const { open, kernel } = await createTestKernel({ tools });
  const session = await open();
  const last = 2n ** 53n;
  for (const offset of [last + 1n, 2n ** 64n - 1n]) {
    const response = {
      result: await send(kernel, session, `r${offset}`, { case: "fileRead", value: { path: "a", offset } }),
    };
    const error = errorOf({ response: { $typeName: "narthex.v1.ToolResponse", requestId: "", ...response } });
    assert.equal(error.errorCode, "INVALID_INPUT");
    assert.deepEqual(
      error.violations.map(({ field, rule }) => [field, rule]),
      [["offset", "range"]],
    );
  }
  assert.deepEqual(seen, []);
  assert.equal(
    (await send(kernel, session, "fits", { case: "fileRead", value: { path: "a", offset: last } })).case,
    "success",
  );
  assert.deepEqual(seen, [{ path: "a", offset: Number(last) }]);
});

test("an environment that names a variable twice is INVALID_INPUT", async () => {
  const { tools, seen } = tellingTools();
  const { open, kernel } = await createTestKernel({ tools });
  const session = await open();
  const result = await send(kernel, session, "r", {
    case: "shellExec",
    value: { command: "ls", env: ["A=1", "B=1", "A=2"] },
  });
  assert.ok(result.case === "error" && result.value.errorCode === "INVALID_INPUT");
  assert.deepEqual(
    result.value.violations.map(({ field, rule }) => [field, rule]),
    [["env[2]", "duplicate"]],
  );
  assert.deepEqual(seen, []);
});

test("a field that accepts any letter case is normalised to the schema's spelling at the first check", async () => {
  const seen: JsonValue[] = [];
  const tool = defineTool({
    name: "tool",
    description: "Takes an operation.",
    inputSchema: {
      type: "object",
      properties: { operation: { enum: ["STATUS", "PUSH"] }, other: { enum: ["A"] } },
      additionalProperties: false,
    },
    tier: "read_only",
    anyCase: ["operation"],
    actions: ["tool_status", "tool_push"],
    action: ({ operation = "STATUS" }) => `tool_${operation.toLowerCase()}`,
    run: (input) => {
      seen.push({ ...input });
      return null;
    },
  });
  const policy = createTestPolicy([{ id: "status", action: "tool_status" }], [tool]);
  const { open, kernel } = await createTestKernel({ tools: [tool], policy });
  const session = await open();
  const digests: string[] = [];
  for (const [index, operation] of ["status", "Status", "STATUS"].entries()) {
    const { status } = await session.call("tool", { operation }, { requestId: `r${index}` });
    assert.equal(status, "success");
    digests.push(await requestDigest(kernel, session, `r${index}`));
  }
  assert.deepEqual(
    seen,
    ["STATUS", "STATUS", "STATUS"].map((operation) => ({ operation })),
  );
  assert.equal(new Set(digests).size, 1);
  assert.equal((await session.call("tool", { operation: "push" })).status, "denied");
  assert.equal(
    (await kernel.explainCall({ tool: "tool", input: { operation: "push" }, sessionId: session.id })).answer,
    "deny",
  );
  // The long s folds to S in other alphabets, and no other field is folded.
  for (const input of [
    { operation: "\u017ftatus" },
    { operation: "stat" },
    { other: "a" },
    { operation: ["status"] },
  ]) {
    assert.equal(errorOf(await session.call("tool", input)).errorCode, "INVALID_INPUT");
  }
});

test("a tool's own canonical form is requested only for input that fits its schema", async () => {
  let asked = 0;
  const tool = defineTool({
    name: "tool",
    description: "Has a form of its own.",
    inputSchema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
    tier: "read_only",
    canonicalInput: ({ text }) => {
      asked++;
      return { text: toHex(blake3(Buffer.from(text))) };
    },
    run: ({ text }) => text,
  });
  const { open } = await createTestKernel({ tools: [tool] });
  const session = await open();
  for (const input of [null, {}, { text: 1 }]) {
    assert.equal(errorOf(await session.call("tool", input)).errorCode, "INVALID_INPUT");
  }
  assert.equal(asked, 0);
  assert.equal((await session.call("tool", { text: "whole" })).raw, "whole");
});

test("rejects duplicate keys, inexact numbers, broken text and trailing bytes in JSON", async () => {
  const { tools } = tellingTools();
  const { open, kernel } = await createTestKernel({ tools });
  const session = await open();
  const texts = [
    '{"a":1,"a":2}',
    "1e400",
    "9007199254740993",
    '"\\ud800"',
    "1 2",
    "",
    "{",
    "NaN",
    `${"[".repeat(200)}${"]".repeat(200)}`,
  ];
  for (const [index, text] of texts.entries()) {
    const result = await send(kernel, session, `r${index}`, {
      case: "call",
      value: { name: "git", input: Buffer.from(text) },
    });
    assert.ok(result.case === "error" && /^INVALID_(INPUT|REQUEST)$/.test(result.value.errorCode), text);
  }
  const broken = { case: "call" as const, value: { name: "git", input: Uint8Array.of(0x22, 0xff, 0x22) } };
  const result = await send(kernel, session, "utf8", broken);
  assert.ok(result.case === "error" && result.value.errorCode === "INVALID_INPUT");
});
