import assert from "node:assert/strict";
import { describe, test } from "node:test";
import { canonicalJson, isKernelError, type JsonValue, parseJson } from "@narthex/contracts";
import { checkLease } from "./check-lease.ts";
import { createLease, DEFAULT_LEASE_TTL_MS, type LeaseGrant } from "./create-lease.ts";
import type { LeaseRequest } from "./lease.ts";
import { leaseFromJson, leaseToJson } from "./lease-to-json.ts";
import { parseLeaseRequest } from "./parse-lease-request.ts";

const NOW = 1_000_000;

function grantOf(request?: LeaseRequest, change: Partial<LeaseGrant> = {}): LeaseGrant {
  return {
    id: "lea_1",
    holder: "ses_1",
    request,
    defaults: { budgets: { calls: 100 }, ttlMs: DEFAULT_LEASE_TTL_MS },
    nowMs: NOW,
    knownTools: ["hash", "echo", "github__delete"],
    workspace: "/project",
    ...change,
  };
}

function problemsOf(json: JsonValue): string[] {
  try {
    parseLeaseRequest(json);
  } catch (error) {
    assert.ok(isKernelError(error));
    assert.equal(error.code, "LEASE_INVALID");
    return error.violations.map(({ field, rule }) => `${field} ${rule}`);
  }
  return [];
}

describe("a lease request", () => {
  test("is rejected with every problem at once", () => {
    assert.deepEqual(
      problemsOf({
        tools: ["echo"],
        tool_patterns: ["*", "a*b", 3],
        capabilities: [{ kind: "fs_read", prefixes: [] }, { kind: "fs_read", prefixes: ["x"] }, { kind: "clock" }],
        highest_tier: "root",
        budgets: { calls: -1, call: 3 },
        not_before_ms: -5,
        ttl_ms: 0,
        delegable: { budgets: {}, highest_tier: "read_only", capabilities: {} },
      }),
      [
        "tools unknown_field",
        "budgets.call unknown_field",
        "budgets.calls range",
        "not_before_ms range",
        "ttl_ms range",
        "delegable.budgets unknown_field",
        "tool_patterns[1] format",
        "tool_patterns[2] format",
        "capabilities[0] required",
        "capabilities[1].prefixes[0] format",
        "highest_tier one_of",
        "delegable.capabilities format",
      ],
    );
    assert.deepEqual(problemsOf("*"), [" format"]);
    assert.deepEqual(problemsOf({ tool_patterns: null }), ["tool_patterns format"]);
  });

  test("may omit everything", () => {
    assert.deepEqual(parseLeaseRequest({}), {});
  });

  test("keeps its values", () => {
    const json = {
      tool_patterns: ["echo", "file_*", "github__*"],
      capabilities: [{ kind: "net_read", hosts: [{ host: "*.a.com", ports: [443] }] }],
      highest_tier: "read_only",
      budgets: { calls: 0 },
      not_before_ms: 5,
      ttl_ms: 10,
      delegable: { tool_patterns: [] },
    };
    assert.deepEqual(parseLeaseRequest(json), json);
  });
});

describe("a granted lease", () => {
  test("is checked in code like one from outside", () => {
    const request: LeaseRequest = { capabilities: [{ kind: "fs_read", prefixes: ["/project/../etc"] }] };
    assert.throws(() => createLease(grantOf(request)), { code: "LEASE_INVALID" });
    assert.throws(() => createLease(grantOf({ tool_patterns: ["a*b"] })), { code: "LEASE_INVALID" });
    assert.throws(() => createLease(grantOf({ budgets: { calls: Number.NaN } })), { code: "LEASE_INVALID" });
  });

  test("is rejected in code for a misspelt option or a value of the wrong type", () => {
    const requests: [object, string][] = [
      [{ toolPatterns: ["echo"] }, "toolPatterns"],
      [{ budgets: { cals: 5 } }, "budgets.cals"],
      [{ delegable: { tools: [] } }, "delegable.tools"],
      [{ capabilities: [{ kind: "fs_read", paths: ["/project"] }] }, "capabilities[0].paths"],
      [{ capabilities: [{ kind: "wasm_exec", maxFuel: 1, maxMemory: 1 }] }, "capabilities[0].maxMemory"],
      [{ capabilities: [null] }, "capabilities[0]"],
      [{ constructor: 1 }, "constructor"],
    ];
    for (const [request, field] of requests) {
      assert.throws(
        () => createLease(grantOf(request)),
        (fault) => {
          assert.ok(isKernelError(fault));
          assert.deepEqual([fault.code, fault.violations[0]?.field], ["LEASE_INVALID", field]);
          return true;
        },
      );
    }
    for (const request of [5, "*", []] as object[]) {
      assert.throws(() => createLease(grantOf(request)), { code: "LEASE_INVALID" });
    }
    const wasm = { kind: "wasm_exec", maxFuel: 5, maxMemoryBytes: 65_536 } as const;
    assert.deepEqual(createLease(grantOf({ capabilities: [wasm], tool_patterns: undefined } as object)).capabilities, [
      wasm,
    ]);
  });

  test("is rejected for a workspace that is no absolute, real path", () => {
    for (const workspace of ["work", "/project/", "/project/../x", ""]) {
      assert.throws(() => createLease(grantOf(undefined, { workspace })), { code: "WORKSPACE_REFUSED" });
    }
  });

  test("covers the known tools, the workspace, and no network by default", () => {
    const lease = createLease(grantOf());
    const rights = {
      toolPatterns: ["echo", "hash"],
      capabilities: [
        { kind: "fs_read", prefixes: ["/project"] },
        { kind: "fs_write", prefixes: ["/project"] },
        { kind: "exec", names: ["*"] },
        { kind: "wasm_exec", maxFuel: 1e12, maxMemoryBytes: 16 * 1024 ** 3 },
        { kind: "git", names: ["*"] },
        { kind: "db_read", names: ["*"] },
        { kind: "db_write", names: ["*"] },
        { kind: "artifact", names: ["*"] },
        { kind: "clock" },
      ],
      highestTier: "privileged",
    };
    assert.deepEqual(lease, {
      id: "lea_1",
      parentId: undefined,
      holder: "ses_1",
      ...rights,
      budgets: { calls: 100 },
      notBeforeMs: NOW,
      expiresAtMs: NOW + 8 * 60 * 60 * 1000,
      delegable: rights,
      revoked: false,
    });
  });

  test("may delegate more than its holder may use", () => {
    const lease = createLease(
      grantOf({
        tool_patterns: ["echo"],
        highest_tier: "read_only",
        delegable: { tool_patterns: ["*"], highest_tier: "privileged" },
      }),
    );
    assert.deepEqual(lease.toolPatterns, ["echo"]);
    assert.deepEqual(lease.delegable.toolPatterns, ["echo", "hash"]);
    assert.equal(lease.delegable.highestTier, "privileged");
    assert.deepEqual(lease.delegable.capabilities, lease.capabilities);
  });

  test("that starts later lasts as long as one that starts now", () => {
    const lease = createLease(grantOf({ not_before_ms: NOW + 500, ttl_ms: 100 }));
    assert.equal(lease.notBeforeMs, NOW + 500);
    assert.equal(lease.expiresAtMs, NOW + 600);
  });
});

describe("checking a lease", () => {
  const lease = createLease(grantOf({ tool_patterns: ["*"], highest_tier: "side_effecting", ttl_ms: 100 }));
  const question = { toolName: "echo", tier: "read_only", nowMs: NOW } as const;

  test("rejects in a fixed order, with the reason", () => {
    const revoked = { ...lease, revoked: true };
    assert.equal(checkLease(revoked, { toolName: "x", tier: "privileged", nowMs: 0 }), "LEASE_REVOKED");
    assert.equal(checkLease(lease, { toolName: "x", tier: "privileged", nowMs: NOW - 1 }), "LEASE_EXPIRED");
    assert.equal(checkLease(lease, { ...question, nowMs: NOW + 100 }), "LEASE_EXPIRED");
    assert.equal(checkLease(lease, { ...question, nowMs: Number.NaN }), "LEASE_EXPIRED");
    assert.equal(checkLease(lease, { ...question, toolName: "later", tier: "privileged" }), "LEASE_SCOPE");
    assert.equal(checkLease(lease, { ...question, toolName: "github__delete" }), "LEASE_SCOPE");
    assert.equal(checkLease(lease, { ...question, tier: "privileged" }), "TIER_NOT_ALLOWED");
  });

  test("admits a call within the lease", () => {
    assert.equal(checkLease(lease, question), undefined);
    assert.equal(checkLease(lease, { ...question, tier: "side_effecting", nowMs: NOW + 99 }), undefined);
  });
});

describe("a stored lease", () => {
  test("reads back unchanged", () => {
    const lease = { ...createLease(grantOf({ budgets: {} })), parentId: "lea_0", revoked: true };
    assert.deepEqual(leaseFromJson(parseJson(canonicalJson(leaseToJson(lease)))), lease);
    const root = createLease(grantOf());
    assert.deepEqual(leaseFromJson(parseJson(canonicalJson(leaseToJson(root)))), root);
  });

  test("with thousands of tools reads back unchanged", () => {
    const knownTools = Array.from({ length: 5000 }, (_, index) => `tool_${index}`);
    const lease = createLease(grantOf(undefined, { knownTools }));
    assert.deepEqual(leaseFromJson(leaseToJson(lease)), lease);
    const tooMany = Array.from({ length: 10_001 }, (_, index) => `tool_${index}`);
    assert.throws(() => createLease(grantOf(undefined, { knownTools: tooMany })), { code: "LEASE_INVALID" });
  });

  test("grants nothing if anything was lost or added", () => {
    const json = leaseToJson(createLease(grantOf()));
    for (const key of Object.keys(json)) {
      const { [key]: _, ...rest } = json;
      assert.throws(() => leaseFromJson(rest), { code: "LEASE_INVALID" }, key);
    }
    assert.throws(() => leaseFromJson({ ...json, extra: 1 }), { code: "LEASE_INVALID" });
    assert.throws(() => leaseFromJson({ ...json, revoked: 0 }), { code: "LEASE_INVALID" });
    assert.throws(() => leaseFromJson(null), { code: "LEASE_INVALID" });
  });
});
