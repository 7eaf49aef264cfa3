import assert from "node:assert/strict";
import { test } from "node:test";
import {
  blake3,
  canonicalJsonBytes,
  fromBinary,
  isKernelError,
  type JsonObject,
  type JsonValue,
  type Proof,
  ProofSchema,
  toBinary,
  toHex,
} from "@narthex/contracts";
import type { StoredDecision } from "@narthex/kernel";
import { recheckStored } from "./recheck-stored.ts";
import { load, requestFor, TEST_SCHEMA } from "./test-policy.ts";

const RULES = [
  '@id("small") permit(principal, action == Action::"file_write", resource) when { context.input has size && context.input.size < 10 };',
  '@id("big") @rationale("TOO_BIG") forbid(principal, action == Action::"file_write", resource) when { context.input has size && context.input.size > 99 };',
  '@id("never") @approve("always") permit(principal, action == Action::"file_write", resource) when { context.input has size && context.input.size == 7 };',
  '@id("lift") @approve("none") @overrides("never") permit(principal, action == Action::"file_write", resource) when { context.input has size && context.input.size == 7 && context.path == "b" };',
].join("\n");

/** A decision as a kernel stores it, with a proof that says this. */
async function decision(input: JsonValue, said: Partial<Proof>, more: JsonObject = {}): Promise<StoredDecision> {
  const { context } = requestFor("file_write");
  const { input: _, labels, effects, calls, time_ms, budget, path, writes, ...rest } = context;
  const inputBytes = canonicalJsonBytes(input);
  const request = canonicalJsonBytes({
    call: { calls, time_ms, budget, path, writes, ...more, input_digest: toHex(blake3(inputBytes)) } as JsonObject,
    form: {
      ...rest,
      labels,
      effects,
      action: "file_write",
      agent: "coder",
      user: "ada",
      tenant: "acme",
      session: "ses_1",
      workspace: "/w",
    } as JsonObject,
  });
  const { bytes: policySet } = await load(RULES);
  const proof: Proof = {
    $typeName: "narthex.v1.Proof",
    allowed: false,
    ruleIds: [],
    policyHash: blake3(policySet),
    schemaHash: TEST_SCHEMA.hash,
    requestHash: blake3(request),
    engine: "narthex-cedar/1",
    rationaleCode: "",
    approve: "none",
    errors: [],
    ...said,
  };
  return { proof: toBinary(ProofSchema, proof), request, input: inputBytes, policySet, schema: TEST_SCHEMA.bytes };
}

const SMALL = { path: "a", size: 5 };
const PERMITTED = { allowed: true, ruleIds: ["small"] };

test("who is asked is made again too: a rule that always asks, and one that lifts it", async () => {
  const asked = await decision(
    { path: "a", size: 7 },
    { allowed: true, ruleIds: ["never", "small"], approve: "human" },
  );
  assert.deepEqual((await recheckStored(asked)).differences, []);
  const said = { allowed: true, ruleIds: ["lift", "never", "small"] };
  const lifted = await decision({ path: "b", size: 7 }, said, { path: "b" });
  assert.deepEqual((await recheckStored(lifted)).differences, []);
});

test("a decision that the rules do not make is found, and what differs is told", async () => {
  const lies: readonly [JsonValue, Partial<Proof>, RegExp][] = [
    [SMALL, { allowed: false, ruleIds: ["small"] }, /^allowed: was false, is true$/],
    [SMALL, { allowed: true, ruleIds: ["other"] }, /^ruleIds: was \["other"\], is \["small"\]$/],
    [SMALL, { ...PERMITTED, approve: "human" }, /^approve: was "human", is "none"$/],
    [
      { path: "a", size: 100 },
      { ruleIds: ["big"], rationaleCode: "OTHER" },
      /^rationaleCode: was "OTHER", is "TOO_BIG"$/,
    ],
    [{ path: "a" }, { rationaleCode: "NO_MATCHING_RULE", errors: ["x"] }, /^errors: was \["x"\], is \[\]$/],
  ];
  for (const [input, said, difference] of lies) {
    const { same, differences } = await recheckStored(await decision(input, said));
    assert.equal(same, false);
    assert.equal(differences.length, 1);
    assert.match(differences[0] ?? "", difference);
  }
});

test("parts that the proof does not name are never evaluated", async () => {
  const good = await decision(SMALL, PERMITTED);
  const other = await decision({ path: "b" }, {});
  for (const [name, part] of [
    ["policy set", { policySet: canonicalJsonBytes([{ name: "p.cedar", text: "not even a rule" }]) }],
    ["schema", { schema: canonicalJsonBytes({}) }],
    ["input", { input: other.input }],
  ] as const) {
    const { same, differences, checkedBy } = await recheckStored({ ...good, ...part });
    assert.deepEqual([same, checkedBy], [false, ""]);
    assert.match(
      differences.join(),
      new RegExp(`^the ${name} is [0-9a-f]{64}, the decision was made on [0-9a-f]{64}$`),
    );
  }
  assert.equal((await recheckStored({ ...good, request: other.request })).same, false);
});

test("bytes that are no proof and no request are refused", async () => {
  const good = await decision(SMALL, PERMITTED);
  const isInvalid = (fault: unknown) => isKernelError(fault) && fault.code === "INVALID_INPUT";
  await assert.rejects(recheckStored({ ...good, proof: Uint8Array.of(0xff) }), isInvalid);
  for (const request of ["{", "[]", '{"call":{},"form":{}}', '{"call":{"input_digest":"00"},"form":{"agent":1}}']) {
    await assert.rejects(recheckStored({ ...good, request: Buffer.from(request) }), isInvalid, request);
  }
});

test("a true decision is the same again, byte for byte, by an engine that did not make it", async () => {
  const truths: readonly [JsonValue, Partial<Proof>][] = [
    [SMALL, PERMITTED],
    [
      { path: "a", size: 100, unseen: 0.5 },
      { ruleIds: ["big"], rationaleCode: "TOO_BIG" },
    ],
    [{ path: "a" }, { rationaleCode: "NO_MATCHING_RULE" }],
  ];
  for (const [input, said] of truths) {
    const stored = await decision(input, said, { calls: 0 });
    assert.deepEqual(await recheckStored(stored), {
      same: true,
      differences: [],
      engine: "narthex-cedar/1",
      checkedBy: "cedar-wasm/4.13.0",
    });
  }
});

test("a proof with a field that no decision has is not the same", async () => {
  const good = await decision(SMALL, PERMITTED, { calls: 0 });
  const { same } = await recheckStored({
    ...good,
    proof: Buffer.concat([good.proof, Uint8Array.of(0xf8, 0x07, 0x01)]),
  });
  assert.equal(same, false);
  assert.equal(fromBinary(ProofSchema, good.proof).allowed, true);
});
