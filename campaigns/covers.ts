import assert from "node:assert/strict";
import type { Capability, Lease } from "@narthex/kernel";
import { BUDGET_DIMENSIONS, SAFETY_TIERS } from "@narthex/kernel";
import { contains, coveredByAny, covers as coversOne, isWithin } from "../packages/kernel/src/capability/covers.ts";
import { checkLease } from "../packages/kernel/src/lease/check-lease.ts";
import { isLeaseSubset } from "../packages/kernel/src/lease/is-lease-subset.ts";
import type { Campaign } from "./campaign.ts";
import { Chance } from "./chance/chance.ts";
import { Findings } from "./chance/findings.ts";
import { inBatches } from "./chance/in-batches.ts";
import { anyLease, anyRight, anyRights, nearbyRight } from "./covers/any-right.ts";
import { allows, witnesses } from "./covers/access-model.ts";

/** Rights of every kind, and leases, against a model of single accesses. */
export const covers: Campaign = {
  name: "covers",
  title:
    "Random rights and leases against a model of single accesses: containment is reflexive and transitive, holds exactly if every access of the inner is one of the outer, and is never wider.",
  unit: "comparisons",
  sample: 10_000,
  full: 1_000_000,
  async run(round) {
    const findings = new Findings();
    await inBatches(round, (number) => {
      const chance = new Chance(round.seed, number);
      const compare = number % 4 === 3 ? compareLeases : number % 4 === 2 ? compareThree : compareRights;
      compare(chance, findings, number);
    });
    return findings.outcome(round.count);
  },
};

/** Rights taken together: inside exactly if each witness of the inner is allowed by one of the outer. */
function compareRights(chance: Chance, findings: Findings, number: number): void {
  const held = anyRights(chance, { odd: false });
  const isNear = held.length > 0 && chance.oneIn(2);
  const asked = isNear ? nearbyRight(chance, chance.pick(held)) : anyRight(chance, { odd: true });
  findings.check(
    () => `comparison ${number}: ${JSON.stringify({ held, asked })}`,
    () => {
      const expected = witnesses(asked)?.every((access) => held.some((right) => allows(right, access))) ?? false;
      assert.equal(isWithin([asked], held), expected, "isWithin and the model differ");
      assert.equal(
        held.some((right) => contains(right, asked)) && !expected,
        false,
        "one right contains what all together do not",
      );
      // As a requirement an empty scope or a `*` asks for less, never for more.
      if (expected) assert.equal(coveredByAny(held, asked), true, "within, and yet not covered");
      if (!isOpen(asked)) assert.equal(coveredByAny(held, asked), expected, "covered otherwise than within");
      findings.count(expected ? "rights: inside" : "rights: outside");
    },
  );
}

function compareThree(chance: Chance, findings: Findings, number: number): void {
  const outer = anyRight(chance, { odd: false });
  const middle = nearbyRight(chance, outer);
  const inner = nearbyRight(chance, middle);
  findings.check(
    () => `comparison ${number}: ${JSON.stringify({ outer, middle, inner })}`,
    () => {
      for (const right of [outer, middle, inner]) {
        assert.equal(contains(right, right), true, "does not contain itself");
        assert.equal(coversOne(right, right), true, "does not cover itself");
      }
      const isChain = contains(outer, middle) && contains(middle, inner);
      if (isChain) assert.equal(contains(outer, inner), true, "not transitive");
      findings.count(isChain ? "rights: three in a chain" : "rights: three, not in a chain");
    },
  );
}

const TOOLS = [
  "a",
  "b",
  "ab",
  "a_",
  "aa",
  "a_b",
  "abab",
  "a__b",
  "a__ba",
  "a__",
  "a__a__b",
  "ab__b",
  "b__a",
  "zz",
  "a__zz",
];
const TIMES = [0, 1, 2, 3, 4];

/** Whatever a child that is inside may do or hand on, its parent could have handed on; and so on upwards. */
function compareLeases(chance: Chance, findings: Findings, number: number): void {
  const grandparent = anyLease(chance);
  const parent = anyLease(chance, grandparent);
  const child = anyLease(chance, parent);
  findings.check(
    () => `comparison ${number}: ${JSON.stringify({ grandparent, parent, child })}`,
    () => {
      const pairs = [
        [child, parent],
        [parent, grandparent],
        [child, grandparent],
      ] as const;
      const inside = pairs.map(([inner, outer]) => isLeaseSubset(inner, outer));
      for (const [index, [inner, outer]] of pairs.entries()) if (inside[index]) assertNotWider(inner, outer);
      if (inside[0] && inside[1]) {
        assert.equal(inside[2], true, "a grandchild is outside its grandparent");
        findings.count("leases: three generations inside");
      }
      findings.count(inside[0] ? "leases: inside" : "leases: outside");
    },
  );
}

function assertNotWider(inner: Lease, outer: Lease): void {
  const ceiling: Lease = { ...outer, ...outer.delegable };
  for (const held of [inner, { ...inner, ...inner.delegable }]) {
    for (const toolName of TOOLS) {
      for (const tier of SAFETY_TIERS) {
        for (const nowMs of TIMES) {
          if (checkLease(held, { toolName, tier, nowMs }) !== undefined) continue;
          assert.equal(checkLease(ceiling, { toolName, tier, nowMs }), undefined, `${toolName}, ${tier}, at ${nowMs}`);
        }
      }
    }
    for (const right of held.capabilities) {
      for (const access of witnesses(right) ?? []) {
        const isAllowed = ceiling.capabilities.some((above) => allows(above, access));
        assert.ok(isAllowed, `wider by ${JSON.stringify(access)}`);
      }
    }
  }
  for (const dimension of BUDGET_DIMENSIONS) {
    const most = outer.budgets[dimension] ?? Number.POSITIVE_INFINITY;
    assert.ok((inner.budgets[dimension] ?? Number.POSITIVE_INFINITY) <= most, `wider by ${dimension}`);
  }
}

/** An empty scope or a `*` in it: read as *some* in a requirement, and as *all* elsewhere. */
function isOpen(right: Capability): boolean {
  if (isEmpty(right)) return true;
  if ("prefixes" in right) return right.prefixes.includes("*");
  if ("hosts" in right) return right.hosts.some(({ host }) => host === "*");
  if ("names" in right) return right.names.includes("*");
  return "models" in right && right.models.some(({ provider, model }) => provider === "*" || model === "*");
}

function isEmpty(right: Capability): boolean {
  const scope = Object.values(right).find((value): value is readonly unknown[] => Array.isArray(value));
  return scope?.length === 0;
}
