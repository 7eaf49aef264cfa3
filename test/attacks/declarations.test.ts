import assert from "node:assert/strict";
import { mkdir, readdir, writeFile } from "node:fs/promises";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { after, describe, it } from "node:test";
import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "@narthex/contracts";
import { objectOf, type TestHome, textOf } from "../cli/home.ts";
import { codeOf, type ServedKernel, serveKernel } from "./served-kernel.ts";

const DECLARED: JsonObject = {
  version: "1.0.0",
  description: "Says what it is told to say.",
  command: ["python3", "./say.py"],
  input_schema: { type: "object" },
  effects: [],
  determinism: "nondeterministic",
  tier: "read_only",
};

const SAY = "import json, sys\nsys.stdout.write(json.load(sys.stdin).get('say', ''))\n";

/** Whoever fetches what a schema names is heard here. */
let fetched = 0;
const elsewhere = createServer((_, response) => {
  fetched++;
  response.end("{}");
});
await new Promise<void>((resolve) => elsewhere.listen(0, "127.0.0.1", resolve));
const REMOTE = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;

const BRANCH: JsonObject = { properties: { next: { $ref: "#" } } };
const TAKEN: Readonly<Record<string, JsonObject>> = {
  exploding: { input_schema: { properties: { text: { pattern: "^(a|aa)+$" } }, required: ["text"] } },
  doubling: { input_schema: { allOf: [BRANCH, BRANCH] } },
  recursive: { input_schema: { ...BRANCH, type: "object" } },
  formatted: { input_schema: { properties: { when: { format: "date" }, colour: { format: "colour" } } } },
  open_ended: { input_schema: { properties: { say: { type: "string" } } } },
  contradictory: { input_schema: { allOf: [{ type: "string" }, { type: "object" }] } },
  filled: {
    input_schema: {
      properties: { say: { default: '"filled"' } },
      additionalProperties: { properties: { n: { default: 0 } } },
    },
  },
  promising: {
    output_schema: {
      type: "object",
      properties: { n: { type: "integer" } },
      required: ["n"],
      additionalProperties: false,
    },
  },
};

let written = 0;
const kernel: ServedKernel = await serveKernel({
  async prepare(home) {
    for (const [name, declared] of Object.entries(TAKEN))
      await home.ask(["tools", "add", await manifest(home, { name, ...declared })]);
  },
});
after(async () => {
  await kernel.stop();
  elsewhere.closeAllConnections();
  elsewhere.close();
});

async function manifest(home: TestHome, declared: JsonObject): Promise<string> {
  const directory = join(home.root, "declared", String(++written));
  await mkdir(directory, { recursive: true });
  await writeFile(join(directory, "say.py"), SAY);
  await writeFile(join(directory, "tool.json"), JSON.stringify({ ...DECLARED, ...declared }));
  return join(directory, "tool.json");
}

/** What `tools add` says to a declaration, which must not be taken. */
async function refusal(declared: JsonObject): Promise<{ readonly code: string; readonly message: string }> {
  const before = await readdir(join(kernel.home.home, "tools"));
  const refused = await kernel.home.ask(
    ["tools", "add", await manifest(kernel.home, { name: "hostile", ...declared })],
    1,
  );
  assert.deepEqual(await readdir(join(kernel.home.home, "tools")), before);
  const { code, message } = objectOf(refused["error"]);
  return { code: textOf(code), message: textOf(message) };
}

const call = (tool: string, input: JsonValue) => kernel.call(tool, JSON.stringify(input));

/** What a call answered, or the code of why it did not. */
async function answerTo(tool: string, input: JsonValue): Promise<string> {
  const response = await call(tool, input);
  const { result } = response;
  return result.case === "success" ? Buffer.from(result.value.inlineResult).toString() : codeOf(response);
}

const parsed = (json: string): JsonObject => {
  const value = parseJson(json);
  return isJsonObject(value) ? value : assert.fail(json);
};

function doubled(levels: number): JsonObject {
  const $defs: JsonObject = { d0: { type: "object" } };
  for (let level = 1; level < levels; level++) {
    const $ref = `#/$defs/d${level - 1}`;
    $defs[`d${level}`] = { allOf: [{ $ref }, { $ref }] };
  }
  return { $defs, $ref: `#/$defs/d${levels - 1}` };
}

function deep(levels: number): JsonObject {
  let value: JsonObject = {};
  for (let level = 0; level < levels; level++) value = { next: value };
  return value;
}

const SCHEMAS: readonly (readonly [what: string, reason: RegExp, ...schemas: readonly JsonObject[]])[] = [
  [
    "a cycle of references that never goes deeper",
    /without descending/,
    { $ref: "#" },
    { $defs: { a: { $ref: "#/$defs/b" }, b: { anyOf: [{ $ref: "#/$defs/a" }] } }, $ref: "#/$defs/a" },
  ],
  [
    "a reference to what lies elsewhere",
    /nothing is fetched/,
    { $ref: `${REMOTE}/schema` },
    { items: { $ref: "file:///etc/passwd" } },
    { $id: `${REMOTE}/`, items: { $ref: "other.json" } },
  ],
  [
    "a reference that depends on who looks",
    /is not supported/,
    { $dynamicRef: "#a", $dynamicAnchor: "a" },
    { $recursiveRef: "#" },
  ],
  [
    "combinations without end",
    /at once|combinators|branches/,
    doubled(40),
    { anyOf: Array.from({ length: 1001 }, () => true) },
  ],
  ["a huge enumeration", /more than 10000 enum values/, { enum: Array.from({ length: 10_001 }, (_, index) => index) }],
  [
    "an unknown dialect",
    /unknown dialect/,
    { $schema: `${REMOTE}/dialect` },
    { items: { $schema: "http://json-schema.org/draft-04/schema#" } },
  ],
  [
    "a default that its own schema does not allow, or for a prototype",
    /does not satisfy|__proto__/,
    { properties: { a: { type: "string", default: 1 } } },
    parsed('{"properties":{"__proto__":{"default":{"admin":true}}}}'),
  ],
];

describe("a tool whose schema has", { timeout: 240_000 }, () => {
  for (const [what, reason, ...schemas] of SCHEMAS) {
    it(`${what} is not added, and the reason is reported`, async () => {
      for (const schema of schemas) {
        for (const place of ["input_schema", "output_schema"]) {
          const { code, message } = await refusal({ [place]: schema });
          assert.equal(code, "INVALID_DECLARATION");
          assert.match(message, reason);
        }
      }
      assert.equal(fetched, 0);
    });
  }
});

describe("a value for a hostile schema", { timeout: 240_000 }, () => {
  it("that would make a pattern explode is rejected", async () => {
    assert.equal(await answerTo("exploding", { text: `${"a".repeat(50_000)}!` }), "INVALID_INPUT");
  });

  it("is rejected if it doubles the work with each level, and accepted otherwise", async () => {
    assert.equal(await answerTo("doubling", deep(60)), "INVALID_INPUT");
    assert.equal(await answerTo("recursive", { ...deep(60), say: "1" }), "1");
  });

  it("is checked against supported formats only", async () => {
    assert.equal(await answerTo("formatted", { when: "2023-02-29" }), "INVALID_INPUT");
    assert.equal(await answerTo("formatted", { when: "2024-02-29", colour: "no colour at all", say: "1" }), "1");
  });

  it("may have other fields unless the schema forbids them", async () => {
    assert.equal(await answerTo("open_ended", { say: "1", other: [2] }), "1");
  });

  it("is always rejected, with the reason, if the schema contradicts itself", async () => {
    for (const value of ["text", {}, 1, null]) {
      const { result } = await call("contradictory", value);
      assert.ok(result.case === "error" && result.value.errorCode === "INVALID_INPUT", JSON.stringify(value));
      assert.ok(result.value.violations.length > 0);
    }
  });

  it("gets defaults without any change to a prototype", async () => {
    const input = Buffer.from('{"__proto__":{"x":1},"constructor":{"y":1}}');
    const { result } = await kernel.call("filled", input);
    assert.ok(result.case === "success");
    assert.equal(Buffer.from(result.value.inlineResult).toString(), '"filled"');
    assert.equal(await answerTo("echo", {}), "{}");
  });
});

describe("a tool's output", { timeout: 240_000 }, () => {
  it("is INVALID_OUTPUT if it has another type or extra fields", async () => {
    assert.equal(await answerTo("promising", { say: '{"n":1}' }), '{"n":1}');
    for (const say of ['"text"', '{"n":"1"}', '{"n":1,"more":2}']) {
      const { result } = await call("promising", { say });
      assert.ok(result.case === "error" && result.value.errorCode === "INVALID_OUTPUT", say);
      assert.ok(result.value.violations.length > 0, say);
    }
  });

  it("is INVALID_OUTPUT if it is missing, and valid if it is an empty text or no bytes", async () => {
    assert.equal(await answerTo("open_ended", {}), "INVALID_OUTPUT");
    assert.equal(await answerTo("open_ended", { say: '""' }), '""');
    assert.equal(codeOf(await call("file_write", { path: "empty", content: "" })), "success");
    const { result } = await call("file_read", { path: "empty" });
    assert.ok(result.case === "success");
    assert.deepEqual([result.value.resultSize, result.value.inlineResult.length], [0n, 0]);
  });
});

describe("a tool whose name or description", { timeout: 240_000 }, () => {
  it("equals that of a built-in tool, its operations or a server's tool is not added", async () => {
    for (const name of ["echo", "git_status", "git_anything", "write_protected", "notes__list", "echo__b"]) {
      const { code } = await refusal({ name, version: "9.0.0" });
      assert.match(code, /^(?:ALREADY_REGISTERED|INVALID_DECLARATION)$/, name);
    }
  });

  it("looks like another tool's is not added, and nothing is executed", async () => {
    for (const name of [
      "Echo",
      "ECHO",
      "Promising",
      "prоmising",
      "promising ",
      "ｐromising",
      "pro\u200bmising",
      "a/b",
      "",
    ]) {
      assert.equal((await refusal({ name })).code, "INVALID_DECLARATION", name);
      assert.match(codeOf(await kernel.call(name, "{}")), /^(?:TOOL_NOT_FOUND|INVALID_REQUEST)$/, name);
    }
  });

  it("hides text, controls the terminal or is endless is not added", async () => {
    for (const description of [
      "adds\u{e0049}\u{e0067}",
      "adds\u200b",
      "adds\u202e",
      "adds\u001b[2J",
      "x".repeat(1 << 20),
    ]) {
      const { code, message } = await refusal({ description });
      assert.equal(code, "INVALID_DECLARATION");
      assert.doesNotMatch(message, /[\u{1b}\u{200b}\u{202e}\u{e0049}]/u);
    }
  });
});

it("all calls are in the ledger afterwards, and it is sound", async () => {
  assert.equal(await answerTo("echo", 1), "1");
  await kernel.assertSound();
});
