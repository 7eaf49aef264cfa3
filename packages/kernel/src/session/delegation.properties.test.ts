import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { isKernelError } from "@narthex/contracts";
import { createMemoryStore, createTestKernel, echoTool, type TestKernel } from "@narthex/testkit";
import * as fc from "fast-check";
import type { Capability } from "../capability/capability.ts";
import { coveredByAny } from "../capability/covers.ts";
import type { DelegableRights, Lease, LeaseRequest } from "../lease/lease.ts";
import { tierWithin } from "../lease/tier.ts";
import { toolPatternCovers } from "../lease/tool-pattern.ts";
import { defineTool } from "../tool/define-tool.ts";
import { SAFETY_TIERS } from "../tool/tool.ts";
import { codeOf, nextRandom, delegate } from "./testing/delegated-session.ts";

// Kernels that are left behind must not keep the test alive.
mock.timers.enable({ apis: ["setTimeout", "setInterval"] });

const TOOLS = [echoTool, defineTool({ ...echoTool, name: "echo_two" }), defineTool({ ...echoTool, name: "other" })];
const NAMES = ["echo", "echo_two", "echo_later", "other", "srv__tool"];
const PATHS = ["/", "/workspace", "/workspace/a", "/workspace/a/b", "/workspacer", "/etc"];

/** Every single thing that a lease of this test could be asked for. */
const ACCESSES: readonly Capability[] = PATHS.flatMap((path): Capability[] => [
  { kind: "fs_read", prefixes: [path] },
  { kind: "fs_write", prefixes: [path] },
]);

const patterns = fc.uniqueArray(fc.constantFrom("echo", "echo_two", "echo*", "other", "o*", "srv__*", "*"), {
  maxLength: 3,
});
const capability: fc.Arbitrary<Capability> = fc.record({
  kind: fc.constantFrom("fs_read" as const, "fs_write" as const),
  prefixes: fc.uniqueArray(fc.constantFrom("*", "/workspace", "/workspace/a", "/workspacer"), {
    minLength: 1,
    maxLength: 2,
  }),
});
const rights = fc.record(
  {
    tool_patterns: patterns,
    capabilities: fc.array(capability, { maxLength: 2 }),
    highest_tier: fc.constantFrom(...SAFETY_TIERS),
  },
  { requiredKeys: [] },
);
/** Mostly what a parent can give: a request that is refused tells little. */
const narrow = fc.record(
  {
    tool_patterns: fc.uniqueArray(fc.constantFrom("echo", "echo_two", "echo_*"), { maxLength: 2 }),
    capabilities: fc.constant<Capability[]>([{ kind: "fs_read", prefixes: ["/workspace/a"] }]),
    highest_tier: fc.constant("read_only" as const),
  },
  { requiredKeys: [] },
);
const someRights = fc.oneof({ weight: 3, arbitrary: narrow }, { weight: 1, arbitrary: rights });
const request: fc.Arbitrary<LeaseRequest> = fc
  .record(
    {
      rights: someRights,
      delegable: someRights,
      calls: fc.option(fc.nat(5), { freq: 8 }),
      ttl_ms: fc.integer({ min: 1, max: 100_000 }),
    },
    { requiredKeys: ["calls"] },
  )
  .map(({ rights: own, delegable, calls, ttl_ms }) => ({
    ...own,
    ...(calls !== null && { budgets: { calls } }),
    ...(delegable !== undefined && { delegable }),
    ...(ttl_ms !== undefined && { ttl_ms }),
  }));

type Step =
  | { readonly do: "delegate"; readonly at: number; readonly request: LeaseRequest }
  | { readonly do: "call" | "close" | "revoke"; readonly at: number }
  | { readonly do: "restart" };

const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ do: fc.constant("delegate" as const), at: fc.nat(20), request }) },
  { weight: 5, arbitrary: fc.record({ do: fc.constant("call" as const), at: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constantFrom("close" as const, "revoke" as const), at: fc.nat(20) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant("restart" as const) }) },
);

/** A session as the model knows it. */
interface Node {
  readonly id: string;
  readonly token: string;
  readonly lease: Lease;
  readonly parent: Node | undefined;
  own: number;
  ended: boolean;
  revoked: boolean;
}

const ROOT: LeaseRequest = {
  tool_patterns: ["echo"],
  capabilities: [{ kind: "fs_read", prefixes: ["/workspace"] }],
  highest_tier: "side_effecting",
  budgets: { calls: 12 },
  delegable: {
    tool_patterns: ["echo*", "other"],
    capabilities: [
      { kind: "fs_read", prefixes: ["/workspace"] },
      { kind: "fs_write", prefixes: ["/workspace/a"] },
    ],
    highest_tier: "side_effecting",
  },
};

test("no sequence of delegations widens rights, and the budgets of a tree never exceed its root's", async () => {
  const seen = { granted: 0, refused: 0, calls: 0 };
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 30 }), async (steps) => {
      const store = createMemoryStore();
      let at = await createTestKernel({ tools: TOOLS, store });
      const opened = await at.kernel.openSession({ workspace: "/workspace", lease: ROOT });
      const nodes: Node[] = [nodeOf(opened.session.lease, opened.token, undefined)];
      for (const taken of steps) {
        if (taken.do === "restart") at = await createTestKernel({ tools: TOOLS, store, random: nextRandom() });
        else await take(at, taken, nodes, seen);
        await assertBudgets(at, nodes);
      }
      for (const node of nodes) assertNarrower(node.lease, opened.session.lease.delegable, node.parent === undefined);
    }),
    { numRuns: 150 },
  );
  assert.ok(seen.granted > 100 && seen.refused > 100 && seen.calls > 100, JSON.stringify(seen));
});

function nodeOf(lease: Lease, token: string, parent: Node | undefined): Node {
  return { id: lease.holder, token, lease, parent, own: 0, ended: false, revoked: false };
}

async function take(
  at: TestKernel,
  taken: Exclude<Step, { do: "restart" }>,
  nodes: Node[],
  seen: { granted: number; refused: number; calls: number },
): Promise<void> {
  const node = nodes[taken.at % nodes.length] ?? assert.fail();
  switch (taken.do) {
    case "delegate":
      try {
        const { id, token } = await delegate(at, node, { lease: taken.request });
        assert.ok(!node.ended && !isRevoked(node));
        const { lease } = (await at.kernel.getSession(id)) ?? assert.fail();
        nodes.push(nodeOf(lease, token, node));
        seen.granted++;
      } catch (fault) {
        assert.ok(isKernelError(fault), String(fault));
        seen.refused++;
      }
      return;
    case "call": {
      const code = codeOf(await at.kernel.callInProcess({ token: node.token, tool: "echo", input: 1 }));
      if (code !== "success") return;
      assert.ok(!node.ended && !isRevoked(node));
      node.own++;
      seen.calls++;
      return;
    }
    case "close":
      await at.kernel.closeSession(node.id);
      for (const other of nodes) if (isBelow(other, node)) other.ended = true;
      return;
    case "revoke":
      await at.kernel.revokeLease({ leaseId: node.lease.id, reason: "", by: "" });
      node.revoked = true;
  }
}

/** What a lease may spend is what is left of it, what it spent itself, and what it gave its children. */
async function assertBudgets(at: TestKernel, nodes: readonly Node[]): Promise<void> {
  for (const node of nodes) {
    if (node.ended) continue;
    const left = (await at.kernel.getSession(node.id))?.budgetRemaining.calls ?? Number.NaN;
    const children = nodes.filter(({ parent }) => parent === node);
    const given = children.map((child) =>
      child.ended ? spentBelow(child, nodes) : (child.lease.budgets.calls ?? Number.NaN),
    );
    const sum = left + node.own + given.reduce((total, amount) => total + amount, 0);
    assert.equal(sum, node.lease.budgets.calls);
  }
}

function spentBelow(node: Node, nodes: readonly Node[]): number {
  const children = nodes.filter(({ parent }) => parent === node);
  return children.reduce((total, child) => total + spentBelow(child, nodes), node.own);
}

function isBelow(node: Node | undefined, top: Node): boolean {
  return node !== undefined && (node === top || isBelow(node.parent, top));
}

function isRevoked(node: Node | undefined): boolean {
  return node !== undefined && (node.revoked || isRevoked(node.parent));
}

/** Each single access that a descendant may use or hand on is one that the root could have handed on. */
function assertNarrower(lease: Lease, ceiling: DelegableRights, isRoot: boolean): void {
  for (const held of isRoot ? [lease.delegable] : [lease, lease.delegable]) {
    for (const name of NAMES) if (holdsTool(held, name)) assert.ok(holdsTool(ceiling, name), name);
    for (const tier of SAFETY_TIERS) {
      if (tierWithin(tier, held.highestTier)) assert.ok(tierWithin(tier, ceiling.highestTier), tier);
    }
    for (const access of ACCESSES) {
      if (coveredByAny(held.capabilities, access)) assert.ok(coveredByAny(ceiling.capabilities, access));
    }
  }
}

function holdsTool({ toolPatterns }: DelegableRights, name: string): boolean {
  return toolPatterns.some((pattern) => toolPatternCovers(pattern, name));
}
