import assert from "node:assert/strict";
import { test } from "node:test";
import * as fc from "fast-check";
import { BUDGET_DIMENSIONS, type BudgetLimits } from "../budget/budget.ts";
import type { Capability } from "../capability/capability.ts";
import { coveredByAny } from "../capability/covers.ts";
import { SAFETY_TIERS } from "../tool/tool.ts";
import { checkLease } from "./check-lease.ts";
import { isLeaseSubset, exceededDimensions } from "./is-lease-subset.ts";
import type { DelegableRights, Lease } from "./lease.ts";

const RIGHTS: DelegableRights = {
  toolPatterns: ["echo", "file_*"],
  capabilities: [{ kind: "fs_read", prefixes: ["/project"] }],
  highestTier: "side_effecting",
};
const PARENT: Lease = {
  id: "lea_parent",
  parentId: undefined,
  holder: "ses_parent",
  ...RIGHTS,
  budgets: { calls: 10 },
  notBeforeMs: 100,
  expiresAtMs: 200,
  delegable: RIGHTS,
  revoked: false,
};

test("a child that exceeds its parent in a dimension is rejected, and the dimension is named", () => {
  const wider: Partial<Lease>[] = [
    { toolPatterns: ["echo", "hash"] },
    { toolPatterns: ["*"] },
    { toolPatterns: ["file*"] },
    { capabilities: [{ kind: "fs_read", prefixes: ["/"] }] },
    { capabilities: [{ kind: "fs_read", prefixes: [] }] },
    { capabilities: [{ kind: "fs_write", prefixes: ["/project"] }] },
    { highestTier: "privileged" },
    { budgets: { calls: 11 } },
    { budgets: {} },
    { notBeforeMs: 99 },
    { expiresAtMs: 201 },
    { delegable: { ...RIGHTS, toolPatterns: ["hash"] } },
    { delegable: { ...RIGHTS, highestTier: "privileged" } },
  ];
  const named = wider.map((change) => exceededDimensions({ ...PARENT, ...change }, PARENT).join());
  assert.deepEqual(named, [
    "tool_patterns",
    "tool_patterns",
    "tool_patterns",
    "capabilities",
    "capabilities",
    "capabilities",
    "highest_tier",
    "budgets",
    "budgets",
    "not_before_ms",
    "expires_at_ms",
    "delegable",
    "delegable",
  ]);
});

test("only delegable rights count, not the parent's own", () => {
  const hoarder: Lease = { ...PARENT, delegable: { toolPatterns: [], capabilities: [], highestTier: "read_only" } };
  assert.deepEqual(exceededDimensions(PARENT, hoarder), ["tool_patterns", "capabilities", "highest_tier", "delegable"]);
  const dispatcher: Lease = { ...PARENT, toolPatterns: [], capabilities: [], highestTier: "read_only" };
  assert.equal(isLeaseSubset(PARENT, dispatcher), true);
});

test("a child that is narrower in every dimension is inside", () => {
  const child: Lease = {
    ...PARENT,
    toolPatterns: ["file_read", "file_r*"],
    capabilities: [{ kind: "fs_read", prefixes: ["/project/src", "/project"] }],
    highestTier: "read_only",
    budgets: { calls: 0, wall_ms: 5 },
    notBeforeMs: 150,
    expiresAtMs: 160,
    delegable: { toolPatterns: [], capabilities: [], highestTier: "read_only" },
  };
  assert.equal(isLeaseSubset(child, PARENT), true);
  assert.equal(isLeaseSubset(PARENT, PARENT), true);
});

const word = fc.constantFrom("a", "b", "a__b", "ab");
const patternArbitrary = fc.tuple(word, fc.constantFrom("", "*", "_*", "__*")).map(([name, end]) => name + end);
const capabilityArbitrary: fc.Arbitrary<Capability> = fc.oneof(
  fc.record({
    kind: fc.constantFrom("fs_read" as const, "fs_write" as const),
    prefixes: fc.array(fc.constantFrom("*", "/", "/a", "/a/b", "/ab"), { minLength: 1, maxLength: 2 }),
  }),
  fc.record({
    kind: fc.constant("exec" as const),
    names: fc.array(fc.constantFrom("*", "sh", "git"), { minLength: 1, maxLength: 2 }),
  }),
);
const rightsArbitrary: fc.Arbitrary<DelegableRights> = fc.record({
  toolPatterns: fc.array(patternArbitrary, { maxLength: 3 }),
  capabilities: fc.array(capabilityArbitrary, { maxLength: 3 }),
  highestTier: fc.constantFrom(...SAFETY_TIERS),
});
const budgetsArbitrary: fc.Arbitrary<BudgetLimits> = fc
  .tuple(fc.option(fc.nat(2)), fc.option(fc.nat(2)))
  .map(([calls, wall]) => ({ ...(calls === null ? {} : { calls }), ...(wall === null ? {} : { wall_ms: wall }) }));
const leaseArbitrary: fc.Arbitrary<Lease> = fc
  .record({
    own: rightsArbitrary,
    delegable: rightsArbitrary,
    budgets: budgetsArbitrary,
    from: fc.nat(3),
    to: fc.nat(3),
  })
  .map(({ own, delegable, budgets, from, to }) => ({
    ...PARENT,
    ...own,
    delegable,
    budgets,
    notBeforeMs: from,
    expiresAtMs: to,
  }));

const TOOLS = ["a", "b", "ab", "a_", "a_c", "abc", "a__b", "a__bc", "a__b__c", "ab__c", "c"];
const ACCESSES: Capability[] = [
  ...["/", "/a", "/a/b", "/a/b/c", "/ab", "/c"].flatMap((path): Capability[] => [
    { kind: "fs_read", prefixes: [path] },
    { kind: "fs_write", prefixes: [path] },
  ]),
  ...["sh", "git", "rm"].map((name): Capability => ({ kind: "exec", names: [name] })),
];

/** A child that is like its parent but for one part is often inside; one that is like nothing almost never. */
const familyArbitrary = fc
  .tuple(leaseArbitrary, leaseArbitrary, fc.constantFrom("rights", "budgets", "expiresAtMs", "everything" as const))
  .map(([parent, other, part]) => {
    const alike: Lease = { ...parent, ...parent.delegable };
    const { toolPatterns, capabilities, highestTier, budgets, expiresAtMs } = other;
    if (part === "everything") return { parent, child: other };
    if (part === "rights") return { parent, child: { ...alike, toolPatterns, capabilities, highestTier } };
    return { parent, child: { ...alike, ...(part === "budgets" ? { budgets } : { expiresAtMs }) } };
  });

test("a child inside its parent can do nothing that the parent could not have delegated", () => {
  let insideCount = 0;
  fc.assert(
    fc.property(familyArbitrary, ({ child, parent }) => {
      if (!isLeaseSubset(child, parent)) return;
      insideCount++;
      const ceiling: Lease = { ...parent, ...parent.delegable };
      for (const toolName of TOOLS) {
        for (const tier of SAFETY_TIERS) {
          for (const nowMs of [0, 1, 2, 3, 4]) {
            if (checkLease(child, { toolName, tier, nowMs }) === undefined) {
              assert.equal(checkLease(ceiling, { toolName, tier, nowMs }), undefined);
            }
          }
        }
      }
      for (const access of ACCESSES) {
        if (coveredByAny(child.capabilities, access)) assert.equal(coveredByAny(ceiling.capabilities, access), true);
      }
      for (const dimension of BUDGET_DIMENSIONS) {
        const most = parent.budgets[dimension] ?? Number.POSITIVE_INFINITY;
        assert.ok((child.budgets[dimension] ?? Number.POSITIVE_INFINITY) <= most);
      }
    }),
    { numRuns: 5000 },
  );
  assert.ok(insideCount > 500, `only ${insideCount} pairs were inside`);
});

test("a grandchild is inside its grandparent", () => {
  fc.assert(
    fc.property(leaseArbitrary, leaseArbitrary, leaseArbitrary, (child, parent, grandparent) => {
      if (isLeaseSubset(child, parent) && isLeaseSubset(parent, grandparent))
        assert.equal(isLeaseSubset(child, grandparent), true);
    }),
    { numRuns: 5000 },
  );
});
