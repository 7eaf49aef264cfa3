import assert from "node:assert/strict";
import { readdirSync } from "node:fs";
import { test } from "node:test";
import { createCountingTool, createTestKernel, echoTool, permitAll } from "@narthex/testkit";
import { STAGES } from "../ports.ts";
import { createNoPolicy } from "../policy/create-policy.ts";
import { defineTool } from "../tool/define-tool.ts";

type Records = Awaited<ReturnType<Awaited<ReturnType<typeof createTestKernel>>["records"]>>;

/** The values of all entries of one kind. */
function entries(records: Records, kind: string): Record<string, unknown>[] {
  return records.flatMap((record) =>
    record.entries
      .filter((entry) => entry.kind.case === kind)
      .map((entry) => entry.kind.value as unknown as Record<string, unknown>),
  );
}

function kindsOf(records: Records): (string | undefined)[] {
  return records.flatMap((record) => record.entries.map((entry) => entry.kind.case));
}

test("the stages' folders sort into the order of execution", () => {
  const folders = readdirSync(import.meta.dirname, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
  assert.deepEqual(folders, [...STAGES]);
});

test("a missing capability leaves CapabilityCheck with its name, then ToolDenied, without evaluating policy", async () => {
  const counting = createCountingTool();
  const { open, records } = await createTestKernel({ tools: [counting.tool] });
  const session = await open({ lease: { capabilities: [] } });
  assert.equal((await session.call("count", {})).status, "denied");
  const all = await records(session.id);
  assert.deepEqual(kindsOf(all.slice(1)), ["toolInvoked", "capabilityCheck", "toolDenied"]);
  const [check] = entries(all, "capabilityCheck");
  assert.deepEqual([check?.["granted"], check?.["rationaleCode"]], [false, "CAPABILITY_MISSING"]);
  assert.match(String(check?.["missing"]), /artifact/);
  assert.equal(counting.count(), 0);
});

test("an exhausted budget leaves CapabilityCheck, BudgetExceeded with the amounts, then ToolDenied", async () => {
  const { open, records } = await createTestKernel({ tools: [echoTool] });
  const session = await open({ lease: { budgets: { calls: 1 } } });
  await session.call("echo", 1);
  assert.equal((await session.call("echo", 2)).status, "denied");
  const all = await records(session.id);
  assert.deepEqual(kindsOf(all.slice(2)), ["toolInvoked", "capabilityCheck", "budgetExceeded", "toolDenied"]);
  const [exceeded] = entries(all, "budgetExceeded");
  assert.deepEqual([exceeded?.["dimension"], exceeded?.["asked"], exceeded?.["remaining"]], ["calls", 1n, 0n]);
});

test("checks the lease before capabilities, capabilities before policy, and policy before asking a person", async () => {
  const asked: string[] = [];
  const counting = createCountingTool();
  const { open } = await createTestKernel({
    tools: [counting.tool],
    policy: createNoPolicy("no rules"),
    approver: {
      available: () => true,
      ask: async () => {
        asked.push("person");
        return { answer: "denied" as const, approver: "nobody" };
      },
    } as never,
  });
  const codeOf = async (lease: object): Promise<unknown> => {
    const { response } = await (await open({ lease })).call("count", {});
    return response.result.case === "denied" ? response.result.value.rationaleCode : response.result.case;
  };
  assert.equal(await codeOf({ tool_patterns: ["echo"], capabilities: [] }), "LEASE_SCOPE");
  assert.equal(await codeOf({ capabilities: [] }), "CAPABILITY_MISSING");
  assert.equal(await codeOf({}), "POLICY_MISSING");
  assert.deepEqual(asked, []);
});

test("a policy that could not be evaluated is POLICY_ERROR, whatever its rules returned", async () => {
  const rule = { id: "r", approve: "none" as const, overrides: [], rationale: undefined, message: undefined };
  const sound = permitAll([echoTool]);
  const { open } = await createTestKernel({
    tools: [echoTool],
    policy: {
      ...sound,
      evaluate: () => ({ allowed: true, rules: [rule], errors: [{ rule: "r", message: "attribute `x` not found" }] }),
    },
  });
  const { response } = await (await open()).call("echo", 1);
  assert.equal(response.result.case === "denied" && response.result.value.rationaleCode, "POLICY_ERROR");
});

test("a malformed policy decision denies", async () => {
  const rule = { id: "r", approve: "none" as const, overrides: [], rationale: undefined, message: undefined };
  for (const allowed of ["no", "true", {}, 1, [], null, undefined]) {
    const answer = { allowed, rules: [rule], errors: [] };
    const policy = { ...permitAll([echoTool]), evaluate: () => answer as never };
    const { open } = await createTestKernel({ tools: [echoTool], policy });
    const { response } = await (await open()).call("echo", 1);
    assert.equal(response.result.case === "denied" && response.result.value.rationaleCode, "POLICY_DENIED");
  }
});

test("a repeat is authorised again before it gets its response", async () => {
  const sound = permitAll([echoTool]);
  let evaluated = 0;
  let allowed = true;
  const { open } = await createTestKernel({
    tools: [echoTool],
    policy: {
      ...sound,
      evaluate: (request) => {
        evaluated++;
        return allowed ? sound.evaluate(request) : { allowed: false, rules: [], errors: [] };
      },
    },
  });
  const session = await open();
  assert.equal((await session.call("echo", 1, { requestId: "r" })).status, "success");
  const repeat = await session.call("echo", 1, { requestId: "r" });
  assert.equal(repeat.response.result.case === "success" && repeat.response.result.value.repeatedAnswer, true);
  assert.equal(evaluated, 2);
  allowed = false;
  assert.equal((await session.call("echo", 1, { requestId: "r" })).status, "denied");
});

test("evaluates the narrowed values: a privileged tool's read-only call passes where its tier would not", async () => {
  const either = defineTool({
    name: "either",
    description: "Reads or changes, as asked.",
    inputSchema: { type: "object", properties: { change: { type: "boolean" } }, required: ["change"] } as const,
    effects: ["artifact"],
    capabilities: [{ kind: "artifact", names: ["*"] }],
    tier: "privileged",
    determinism: "nondeterministic",
    narrow: ({ change }) => (change ? {} : { tier: "read_only", effects: [] }),
    run: () => ({}),
  });
  const { open } = await createTestKernel({ tools: [either], policy: permitAll([either], "none") });
  const session = await open({ lease: { highest_tier: "read_only" } });
  assert.equal((await session.call("either", { change: false })).status, "success");
  assert.equal((await session.call("either", { change: true })).status, "denied");
});

test("an embedding program gets the tool's return value, bytes, hash, proof, effects and metadata", async () => {
  const counting = createCountingTool();
  const { open } = await createTestKernel({ tools: [counting.tool] });
  const result = await (await open()).call("count", {});
  assert.deepEqual(result.raw, { count: 1 });
  assert.equal(Buffer.from(result.normalised ?? []).toString(), '{"count":1}');
  assert.equal(result.hash?.length, 32);
  assert.ok((result.proof?.length ?? 0) > 32);
  assert.deepEqual(result.sideEffects, ["artifact"]);
  const { durationMs, ...metadata } = result.metadata;
  assert.ok(durationMs >= 0);
  assert.deepEqual(metadata, {
    tool: counting.tool.name + "@" + counting.tool.version,
    source: "embedder",
    labels: [],
    cut: false,
  });
});

test("records that a view was cut, and charges the call's price to the budget", async () => {
  const long = defineTool({
    name: "long",
    description: "Says much.",
    inputSchema: true,
    tier: "read_only",
    resultType: "string",
    price: 7,
    run: () => "x".repeat(100_000),
  });
  const { open, records } = await createTestKernel({ tools: [long] });
  const session = await open();
  const { response, metadata } = await session.call("long", {});
  assert.equal(metadata.cut, true);
  assert.equal(response.result.case === "success" && response.result.value.budgetConsumed, 7n);
  const [completed] = entries(await records(session.id), "toolCompleted");
  assert.equal(completed?.["cut"], true);
});

test("records putting content with its size", async () => {
  const { open, kernel, records } = await createTestKernel({ tools: [echoTool] });
  const session = await open();
  const chunks = (async function* () {
    yield new Uint8Array(1234);
  })();
  await kernel.putContent({ sessionId: session.id, door: "test", labels: [], chunks });
  const [stored] = entries(await records(session.id), "contentStored");
  assert.equal(stored?.["size"], 1234n);
});

test("records policy and tools before the first session", async () => {
  const { open, records } = await createTestKernel({ tools: [echoTool] });
  await open();
  const all = await records("system");
  assert.equal(entries(all, "policyLoaded").length, 1);
  assert.deepEqual(
    entries(all, "toolRegistered").map((entry) => entry["toolName"]),
    ["echo"],
  );
});

test("a session without a seed gets a random one, which is recorded; its working directory is the workspace", async () => {
  const { open, records } = await createTestKernel({ tools: [echoTool] });
  const [first, second] = [await open(), await open()];
  const opened = await Promise.all(
    [first, second].map(async ({ id }) => entries(await records(id), "sessionOpened")[0]),
  );
  const seeds = opened.map((entry) => Buffer.from(entry?.["seed"] as Uint8Array).toString("hex"));
  assert.match(seeds[0] ?? "", /^[0-9a-f]{64}$/);
  assert.notEqual(seeds[0], seeds[1]);
  assert.deepEqual(
    opened.map((entry) => entry?.["workingDirectory"]),
    ["/workspace", "/workspace"],
  );
});
