import assert from "node:assert/strict";
import { test } from "node:test";
import { blake3, canonicalJsonBytes, ContentRole, type JsonValue, KernelError, toHex } from "@narthex/contracts";
import { defineTool } from "../tool/define-tool.ts";
import type { Determinism, Tool, ToolContext, ToolOutput } from "../tool/tool.ts";
import { createReplayKernel, erasing, portsOf } from "./testing/replay-kernel.ts";

function make(determinism: Determinism, run: (input: JsonValue, context: ToolContext) => unknown, more = {}): Tool {
  const tool = defineTool({
    name: "tool",
    description: "Says.",
    inputSchema: true,
    tier: "read_only",
    determinism,
    run: () => 0,
  });
  return { ...tool, ...more, run: (input, context) => run(input, context) as ToolOutput };
}

const digestOf = (value: JsonValue): string => toHex(blake3(canonicalJsonBytes(value)));

async function replayed(tool: Tool, inputs: readonly JsonValue[] = [1, 2]) {
  const kernel = await createReplayKernel([tool]);
  const session = await kernel.open();
  for (const input of inputs) await session.call("tool", input);
  return { kernel, session, report: await kernel.replay(session.id) };
}

test("a pure call is run again and must produce the same hash", async () => {
  let runs = 0;
  const tool = make("pure", (input) => {
    runs++;
    return { twice: [input, input] };
  });
  const { report } = await replayed(tool);
  assert.equal(runs, 4);
  assert.deepEqual([report.clean, report.calls, report.ran, report.decisions], [true, 2, 2, 2]);
});

test("a deterministic call gets the recorded clock and randomness again", async () => {
  const tool = make("deterministic", (_, { nowMs, randomBytes, timeLeftMs, callNumber }) => [
    nowMs(),
    toHex(randomBytes(5)),
    toHex(randomBytes(40)),
    timeLeftMs(),
    callNumber,
  ]);
  const { report } = await replayed(tool, [1, 1, 1]);
  assert.deepEqual([report.clean, report.ran], [true, 3]);
});

for (const determinism of ["external", "nondeterministic"] as const) {
  test(`${determinism} calls are served from the record and do not run`, async () => {
    let runs = 0;
    const { report, kernel, session } = await replayed(make(determinism, () => runs++));
    assert.equal(runs, 2);
    assert.deepEqual([report.clean, report.served, report.servedBy.get("determinism")], [true, 2, 2]);
    // Nor is the tool needed for it.
    assert.ok((await kernel.replay(session.id, { findTool: () => undefined })).clean);
  });
}

for (const determinism of ["pure", "deterministic"] as const) {
  test(`catches a tool that is not as ${determinism} as it declares, with record, stage and both hashes`, async () => {
    let counter = 0;
    const { report } = await replayed(
      make(determinism, () => ++counter),
      ["a", "b"],
    );
    assert.equal(report.clean, false);
    assert.equal(report.divergenceCount, 2);
    const [first] = report.divergences;
    assert.equal(first?.stage, "keep");
    assert.equal(first?.cause, "not_deterministic");
    assert.equal(first?.expectedHash, digestOf(1));
    assert.equal(first?.foundHash, digestOf(3));
    assert.equal(first?.tool, "tool@1.0.0");
    assert.ok((first?.recordIndex ?? 0) > 0);
  });
}

test("names a tool of another version or definition before anything runs", async () => {
  const { kernel, session } = await replayed(
    make("pure", () => 1),
    [0],
  );
  const other = make("pure", () => 1, { description: "Says something else." });
  const missing = await kernel.replay(session.id, { findTool: () => undefined });
  const changed = await kernel.replay(session.id, portsOf([other]));
  for (const { divergences, clean } of [missing, changed]) {
    assert.equal(clean, false);
    assert.deepEqual([divergences[0]?.stage, divergences[0]?.cause], ["bind", "tool_changed"]);
    assert.match(divergences[0]?.expectedHash ?? "", /^[0-9a-f]{64}$/);
  }
  assert.equal(missing.divergences[0]?.foundHash, "");
  assert.notEqual(changed.divergences[0]?.foundHash, changed.divergences[0]?.expectedHash);
});

for (const [role, stage] of [
  [ContentRole.INPUT, "decide"],
  [ContentRole.RESULT, "keep"],
  [ContentRole.PROOF, "decide"],
] as const) {
  test(`names erased content as the cause: ${ContentRole[role]}`, async () => {
    const { kernel, session } = await replayed(
      make("pure", () => 1),
      [0],
    );
    const report = await kernel.replay(session.id, {}, erasing(kernel.source, role));
    assert.deepEqual([report.divergences[0]?.cause, report.divergences[0]?.stage], ["content_erased", stage]);
    if (role !== ContentRole.PROOF) assert.equal(report.contentDigest, undefined);
  });
}

test("reports a different decision as a changed policy, at the deciding stage", async () => {
  const { kernel, session } = await replayed(
    make("pure", () => 1),
    [0],
  );
  const proof = new Uint8Array([8, 0]);
  const report = await kernel.replay(session.id, {
    recheck: () => Promise.resolve({ kind: "made", proof, differences: ["allowed: was true, is false"] }),
  });
  const [first] = report.divergences;
  assert.deepEqual([first?.stage, first?.cause, first?.foundHash], ["decide", "policy_changed", toHex(blake3(proof))]);
  const gone = await kernel.replay(session.id, {
    recheck: () => Promise.resolve({ kind: "gone", digest: new Uint8Array(32) }),
  });
  assert.equal(gone.divergences[0]?.cause, "content_erased");
});

test("a failed call must fail the same way", async () => {
  const stable = await replayed(
    make("pure", () => {
      throw new KernelError("NO_MATCH", "nothing there", { violations: [{ field: "$", rule: "x", message: "y" }] });
    }),
  );
  assert.deepEqual([stable.report.clean, stable.report.ran], [true, 2]);
  let counter = 0;
  const lying = await replayed(
    make("pure", () => {
      throw new Error(`number ${++counter}`);
    }),
  );
  assert.deepEqual(
    lying.report.divergences.map(({ stage, cause }) => [stage, cause]),
    [
      ["invoke", "not_deterministic"],
      ["invoke", "not_deterministic"],
    ],
  );
});

test("a value taken from the kernel beyond its record marks the call as served, whatever the tool does with it", async () => {
  const hiding = make("pure", async (_, context) => {
    try {
      await context.artifacts.get("x");
    } catch {
      return Math.random();
    }
    return Math.random();
  });
  const { report } = await replayed(hiding, [0]);
  assert.deepEqual([report.clean, report.servedBy.get("artifacts")], [true, 1]);
});

test("content read by its hash is available again, and missing content is named as the cause", async () => {
  const reads = make("pure", async (input, { content }) => {
    const hash = typeof input === "string" ? input : "";
    return hash === "" ? "x".repeat(100_000) : (await content.read(hash, 99_990, 0)).length;
  });
  const kernel = await createReplayKernel([reads]);
  const session = await kernel.open();
  const first = await session.call("tool", "");
  await session.call("tool", toHex(first.hash ?? new Uint8Array()));
  assert.deepEqual((await kernel.replay(session.id)).ran, 2);
  const gone = { ...kernel.source, findContent: () => Promise.resolve(undefined) };
  const report = await kernel.replay(session.id, {}, gone);
  assert.deepEqual(
    report.divergences.map(({ cause }) => cause),
    ["content_erased"],
  );
  const leftOut = await kernel.replay(session.id, {}, { ...gone, omitsContent: true });
  assert.deepEqual([leftOut.clean, leftOut.servedBy.get("left_out")], [true, 1]);
});

test("hashes streams as they arrive; an endless one is stopped by its time-out", async () => {
  let isSecond = false;
  const stream = make(
    "pure",
    async function* () {
      yield Buffer.from("part");
      if (isSecond) await new Promise(() => undefined);
      isSecond = true;
      yield Buffer.from("rest");
    },
    { resultType: "stream", normalise: "binary", bounds: { timeoutMs: 500, maxOutputBytes: 9 } },
  );
  const { report } = await replayed(stream, [0]);
  assert.deepEqual([report.divergences[0]?.stage, report.divergences[0]?.cause], ["invoke", "not_deterministic"]);
});

test("a replay records nothing, and rejects an unknown session", async () => {
  const { kernel, session } = await replayed(make("pure", () => 1));
  const count = async () => {
    let rows = 0;
    for await (const _ of kernel.source.records(session.id)) rows++;
    return rows;
  };
  const before = await count();
  await kernel.replay(session.id);
  assert.equal(await count(), before);
  await assert.rejects(kernel.replay("ses_aaaaaaaaaaaaaaaaaaaa"), { code: "SESSION_UNKNOWN" });
});

test("two runs with one seed and the same inputs have the same content digest, and another input changes it", async () => {
  const tool = make("deterministic", (input, { randomBytes }) => [input, toHex(randomBytes(4))]);
  const [one, other, third] = [
    await replayed(tool, [1, 2]),
    await replayed(tool, [1, 2]),
    await replayed(tool, [2, 1]),
  ];
  assert.ok(one.report.contentDigest);
  assert.deepEqual(one.report.contentDigest, other.report.contentDigest);
  assert.notDeepEqual(one.report.contentDigest, third.report.contentDigest);
});

test("the digest of concurrent calls does not depend on their order, and that of sequential calls does", async () => {
  const run = async (order: readonly number[], together: boolean) => {
    const kernel = await createReplayKernel([make("pure", async (input) => await Promise.resolve(input))]);
    const session = await kernel.open();
    await session.call("tool", "before");
    if (together) await Promise.all(order.map((input) => session.call("tool", input)));
    else for (const input of order) await session.call("tool", input);
    await session.call("tool", "after");
    return toHex((await kernel.replay(session.id)).contentDigest ?? new Uint8Array());
  };
  const together = await run([1, 2, 3], true);
  assert.equal(await run([3, 1, 2], true), together);
  assert.notEqual(await run([1, 2, 3], false), together);
  assert.notEqual(await run([1, 2, 3], false), await run([2, 1, 3], false));
});
