import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { blake3, create, fromBinary, ProofSchema, toBinary, toHex } from "@narthex/contracts";
import { SAFETY_TIERS } from "../tool/tool.ts";
import { approvalRequirement } from "./approval-requirement.ts";
import type { ApproveAnnotation, PolicyEvaluation, PolicyRule, PolicySet } from "./policy.ts";
import { createProof, type ProofFacts } from "./proof.ts";

const rule = (id: string, approve: ApproveAnnotation): PolicyRule => ({
  id,
  approve,
  overrides: [],
  rationale: undefined,
  message: undefined,
});
const set: PolicySet = {
  hash: new Uint8Array(32).fill(1),
  schemaHash: new Uint8Array(32).fill(2),
  engine: "narthex-cedar/1",
  fallback: "",
  ruleCount: 1,
  warnings: [],
  bytes: new Uint8Array(),
  schemaBytes: new Uint8Array(),
};
const DENIED: PolicyEvaluation = { allowed: false, rules: [], errors: [] };
const FACTS: ProofFacts = {
  evaluation: { allowed: true, rules: [rule("a", "unstated")], errors: [] },
  set,
  requestHash: new Uint8Array(32).fill(9),
  approve: "none",
  rationaleCode: "",
};

describe("a proof", () => {
  test("of a decision with an error permits nothing", () => {
    const answer: PolicyEvaluation = {
      allowed: true,
      rules: [rule("a", "none")],
      errors: [{ rule: "a", message: "overflow" }],
    };
    const proof = fromBinary(
      ProofSchema,
      createProof({ ...FACTS, evaluation: answer, rationaleCode: "POLICY_ERROR" }).bytes,
    );
    assert.equal(proof.allowed, false);
    assert.deepEqual(proof.errors, ["a"]);
    assert.equal(proof.rationaleCode, "POLICY_ERROR");
  });

  test("requires the hash of a request", () => {
    assert.throws(() => createProof({ ...FACTS, requestHash: new Uint8Array(0) }), { code: "INTERNAL" });
  });

  test("names no policy if none is in force", () => {
    const proof = fromBinary(
      ProofSchema,
      createProof({ ...FACTS, evaluation: DENIED, set: undefined, rationaleCode: "POLICY_MISSING" }).bytes,
    );
    assert.deepEqual([proof.policyHash.length, proof.schemaHash.length, proof.engine], [0, 0, ""]);
  });

  test("is the deterministic encoding of the decision", () => {
    const proof = createProof(FACTS);
    const expected = toBinary(
      ProofSchema,
      create(ProofSchema, {
        allowed: true,
        ruleIds: ["a"],
        policyHash: set.hash,
        schemaHash: set.schemaHash,
        requestHash: FACTS.requestHash,
        engine: "narthex-cedar/1",
        approve: "none",
      }),
    );
    assert.equal(toHex(proof.bytes), toHex(expected));
    assert.equal(toHex(proof.digest), toHex(blake3(expected)));
    assert.deepEqual(createProof({ ...FACTS }), proof);
  });
});

describe("asking a person", () => {
  test("a privileged call asks unless a rule exempts it", () => {
    assert.equal(approvalRequirement([rule("a", "unstated")], "privileged").approve, "human");
    assert.equal(approvalRequirement([rule("a", "unstated"), rule("b", "human")], "privileged").approve, "human");
    assert.equal(approvalRequirement([], "privileged").approve, "human");
    assert.equal(approvalRequirement([rule("a", "none")], "privileged").approve, "none");
    assert.equal(approvalRequirement([rule("a", "unstated"), rule("b", "none")], "privileged").approve, "none");
  });

  test("any other call asks only if all matching rules ask", () => {
    for (const tier of ["read_only", "side_effecting"] as const) {
      assert.equal(approvalRequirement([rule("a", "unstated")], tier).approve, "none");
      assert.equal(approvalRequirement([rule("a", "human"), rule("b", "unstated")], tier).approve, "none");
      assert.equal(approvalRequirement([rule("a", "console"), rule("b", "none")], tier).approve, "none");
      assert.equal(approvalRequirement([rule("a", "human"), rule("b", "human")], tier).approve, "human");
    }
  });

  test("if all rules ask, the console is the stronger requirement, in any order", () => {
    for (const tier of SAFETY_TIERS) {
      assert.equal(approvalRequirement([rule("a", "console"), rule("b", "human")], tier).approve, "console");
      assert.equal(approvalRequirement([rule("a", "human"), rule("b", "console")], tier).approve, "console");
    }
    assert.equal(approvalRequirement([rule("a", "unstated"), rule("b", "console")], "privileged").approve, "console");
  });

  test("a rule that always asks does so whatever other rules permit, unless one overrides it", () => {
    const always = rule("a", "always");
    for (const tier of SAFETY_TIERS) {
      for (const other of ["none", "unstated", "human"] as const) {
        assert.deepEqual(approvalRequirement([always, rule("b", other)], tier), { approve: "human", always: ["a"] });
      }
      assert.deepEqual(approvalRequirement([rule("b", "console"), always], tier), {
        approve: "console",
        always: ["a"],
      });
      const lifting = { ...rule("b", "none"), overrides: ["a"] };
      assert.deepEqual(approvalRequirement([always, lifting], tier), { approve: "none", always: [] });
      assert.deepEqual(approvalRequirement([always, rule("c", "always"), lifting], tier), {
        approve: "human",
        always: ["c"],
      });
      // A rule that does not match this call lifts nothing for it.
      assert.deepEqual(approvalRequirement([always], tier).always, ["a"]);
    }
  });
});
