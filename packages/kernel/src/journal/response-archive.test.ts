import assert from "node:assert/strict";
import { test } from "node:test";
import {
  blake3,
  ContentPlace,
  ContentRole,
  create,
  fromBinary,
  KernelError,
  RecordContentSchema,
  toBinary,
  toHex,
  type ToolResponse,
  utf8,
} from "@narthex/contracts";
import {
  createCountingTool,
  createMemoryContentStore,
  createMemoryStore,
  createTestKernel,
  echoTool,
  type MemoryStore,
  permitAll,
} from "@narthex/testkit";
import type { ContentStore } from "../ports.ts";
import { defineTool } from "../tool/define-tool.ts";
import type { ResultType, Tool, ToolOutput } from "../tool/tool.ts";
import { createResponseArchive } from "./response-archive.ts";
import type { CallResponse } from "./call-response.ts";

const approver = { door: "test", ask: async () => ({ approved: true, approver: "ann" }) };

function giving(resultType: ResultType, output: () => ToolOutput, extra: Partial<Tool> = {}): Tool {
  return {
    ...defineTool({ name: "give", description: "Gives.", inputSchema: true, tier: "read_only", run: () => 0 }),
    resultType,
    normalise: resultType === "json" ? "json" : "binary",
    run: output,
    ...extra,
  };
}

function streaming(chunks: number): () => AsyncIterable<Uint8Array> {
  return async function* () {
    for (let i = 0; i < chunks; i++) yield new Uint8Array(65_536).fill(65 + (i % 26));
  };
}

function failing(fault: unknown, extra: Partial<Tool> = {}): Tool {
  return giving(
    "json",
    () => {
      throw fault;
    },
    extra,
  );
}

const EFFECTS: Partial<Tool> = {
  tier: "side_effecting",
  effects: ["artifact"],
  capabilities: [{ kind: "artifact", names: ["*"] }],
};
const BOUNDS = { timeoutMs: 1000, maxOutputBytes: 100 };

/** Asks, starts a new kernel on the same stores, and asks again. */
async function askTwice(tool: Tool, approve: "unstated" | "human" = "unstated"): Promise<[ToolResponse, ToolResponse]> {
  const shared = { store: createMemoryStore(), contentStore: createMemoryContentStore(), approver };
  const policy = permitAll([tool], approve);
  const { open } = await createTestKernel({ tools: [tool], policy, ...shared });
  const { token } = await open();
  const ask = { token, tool: tool.name, input: { a: 1 }, requestId: "r" };
  const next = async () => (await createTestKernel({ tools: [tool], policy, ...shared })).kernel;
  const first = (await (await next()).callInProcess(ask)).response;
  return [first, (await (await next()).callInProcess(ask)).response];
}

test("a response read back from the ledger equals the first one, field by field", async () => {
  const violations = [{ field: "a", rule: "format", message: "wrong" }];
  const tools: Readonly<Record<string, Tool>> = {
    json: giving("json", () => ({ b: [1, 2], a: "é" })),
    "an empty text": giving("string", () => ""),
    binary: giving("binary", () => Uint8Array.of(0xff, 0, 1)),
    "with effects": giving("json", () => ({ done: true }), EFFECTS),
    "a cut view": giving("string", () => "é".repeat(500), { bounds: BOUNDS }),
    "above the row": giving("string", () => "x".repeat(100_000), { bounds: BOUNDS }),
    "above 1 MB": giving("string", () => "😀".repeat(600_000)),
    "a stream": giving("stream", streaming(1)),
    "a stream above the row": giving("stream", streaming(3)),
    "a stream above 1 MB": giving("stream", streaming(20)),
    "a stream above 1 MB with effects": giving("stream", streaming(20), { ...EFFECTS, bounds: BOUNDS }),
    "a coded error": failing(new KernelError("FILE_NOT_FOUND", "no such file", { violations, retryAfterMs: 1.5 })),
    "a coded error with effects": failing(new KernelError("FILE_EXISTS", "there is one"), EFFECTS),
    "an error with half a character in it": failing(new Error("\ud83d broken 😀".repeat(50))),
    "an error with very many violations": failing(
      new KernelError("INVALID_INPUT", "x".repeat(5000), {
        violations: Array.from({ length: 500 }, () => ({ field: "f", rule: "format", message: "m".repeat(5000) })),
      }),
    ),
    "invalid output": giving("json", () => ({ a: 1 }), { outputSchema: { type: "array" } }),
  };
  for (const [name, tool] of Object.entries(tools)) {
    for (const approve of ["unstated", "human"] as const) {
      const [first, again] = await askTwice(tool, approve);
      assert.ok(first.result.case === "success" || first.result.case === "error", name);
      assert.equal(again.result.case, first.result.case, name);
      if (again.result.case !== "success" && again.result.case !== "error") assert.fail(name);
      assert.ok(again.result.value.repeatedAnswer, name);
      assert.deepEqual(plain({ ...again.result.value, repeatedAnswer: false }), plain(first.result.value), name);
    }
  }
});

test("does not run a call again whose result was erased", async () => {
  for (const dedupeKey of ["", "k"]) {
    const store = createMemoryStore();
    const counting = createCountingTool();
    const first = await createTestKernel({ tools: [counting.tool], store });
    const { token, call } = await first.open();
    await call("count", {}, { requestId: "r", dedupeKey });
    const { kernel } = await createTestKernel({ tools: [counting.tool], store: erasingResults(store) });
    const requestId = dedupeKey === "" ? "r" : "other";
    const { response } = await kernel.callInProcess({ token, tool: "count", input: {}, requestId, dedupeKey });
    assert.ok(response.result.case === "error" && response.result.value.errorCode === "CONTENT_NOT_FOUND");
    assert.equal(counting.count(), 1);
  }
});

test("changing returned bytes does not change the stored response", async () => {
  const { open } = await createTestKernel({ tools: [echoTool] });
  const session = await open();
  for (let i = 0; i < 3; i++) {
    const { normalised, response } = await session.call("echo", "text", { requestId: "r" });
    assert.equal(Buffer.from(normalised ?? []).toString(), '"text"');
    normalised?.fill(0);
    if (response.result.case === "success") response.result.value.inlineResult.fill(0);
  }
});

test("keeps a bounded number of responses in memory, and no large one", async () => {
  let asked = 0;
  const store: MemoryStore = {
    ...createMemoryStore(),
    findRequest: async () => {
      asked++;
      return undefined;
    },
  };
  const archive = createResponseArchive({
    store,
    contentStore: noFiles,
    viewBytesOf: () => 100,
    firstLineOf: () => undefined,
    plainTextOf: () => undefined,
  });
  const requestDigest = new Uint8Array(32);
  archive.remember("s", "large", { requestDigest, response: answerOf("x".repeat(20_000)) });
  assert.equal(await archive.find("s", "large"), undefined);
  for (let i = 0; i < 5000; i++) archive.remember("s", `r${i}`, { requestDigest, response: answerOf("x") });
  assert.equal(await archive.find("s", "r0"), undefined);
  assert.ok(await archive.find("s", "r4999"));
  assert.equal(await archive.find("s/r", "4999"), undefined);
  archive.forget("s", "r4999");
  assert.equal(await archive.find("s", "r4999"), undefined);
  assert.equal(asked, 4);
});

const noFiles: ContentStore = createMemoryContentStore();

function answerOf(view: string): CallResponse {
  const value = {
    $typeName: "narthex.v1.ToolSuccess" as const,
    resultHash: new Uint8Array(32),
    inlineResult: new Uint8Array(0),
    budgetConsumed: 0n,
    durationMs: 0n,
    proofHash: new Uint8Array(0),
    view,
    labels: [],
    tool: "",
    resultType: "json",
    resultSize: 0n,
    cut: false,
    repeatedAnswer: false,
  };
  const about = { tool: "", source: "", sideEffects: [], raw: undefined, normalised: undefined, proof: undefined };
  return { ...about, recordIndex: 0, isFinal: true, result: { case: "success", value } };
}

/** The same store after its results were erased: digest, nonce and bytes are gone. */
function erasingResults(store: MemoryStore): MemoryStore {
  return {
    ...store,
    async readRecord(index) {
      const stored = await store.readRecord(index);
      if (stored === undefined) return undefined;
      const items = fromBinary(RecordContentSchema, stored.content).items.map((item) =>
        item.role === ContentRole.RESULT ? { role: item.role, place: ContentPlace.ERASED } : item,
      );
      return { ...stored, content: toBinary(RecordContentSchema, create(RecordContentSchema, { items })) };
    },
  };
}

/** Messages read from bytes have another prototype than those made as plain data. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return `${value.length} bytes ${toHex(blake3(value))}`;
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value === "string") return value.length > 200 ? `${value.length} ${toHex(blake3(utf8(value)))}` : value;
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, item]) => (key === "$unknown" ? [] : [[key, plain(item)]])),
  );
}
