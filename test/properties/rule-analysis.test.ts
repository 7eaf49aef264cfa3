import assert from "node:assert/strict";
import { test } from "node:test";
import type { JsonObject } from "@narthex/contracts";
import {
  type CedarPolicy,
  type CedarRequest,
  compileCedar,
  findImpossible,
  findShadowed,
  type PolicyRule,
  policySchema,
  toolVariants,
  type VariantTool,
} from "@narthex/kernel";
import * as fc from "fast-check";
import { loadCedar } from "../../packages/host/src/policy/cedar-wasm.ts";
import { requestFor } from "../../packages/host/src/policy/test-policy.ts";

type Cedar = Awaited<ReturnType<typeof loadCedar>>;

const PLAIN = { version: "1.0.0", source: "embedder", isolation: "inline", determinism: "external" } as const;
const TOOLS: readonly VariantTool[] = [
  { ...PLAIN, name: "write", tier: "side_effecting", effects: ["fs_write"] },
  { ...PLAIN, name: "note", tier: "side_effecting", effects: [] },
  { ...PLAIN, name: "look", tier: "read_only", effects: [] },
  // Narrowed from call to call, and asked about by two names.
  {
    ...PLAIN,
    name: "git",
    tier: "privileged",
    effects: ["fs_read", "net_write"],
    actions: ["pull", "push"],
    narrow: 1,
  },
];
const ACTIONS = ["write", "note", "look", "pull", "push"];
const capabilities = [
  { kind: "fs_write", prefixes: [] },
  { kind: "net_read", hosts: [] },
] as const;
const SCHEMA = policySchema(
  TOOLS.map(({ name, actions }) => ({ declaration: { name, capabilities, inputSchema: {} }, actions })),
);
const GROUPS = new Map(SCHEMA.actions.map((action) => [action, SCHEMA.groupsOf(action).slice(1)]));

const TIERS = ["read_only", "side_effecting", "privileged"] as const;
const EFFECTS = ["fs_read", "fs_write", "net_write"];
const text = JSON.stringify;
const texts = (values: readonly string[]) => `[${values.map((value) => text(value)).join(", ")}]`;
const EFFECT_LISTS = fc.subarray([...EFFECTS, "netwrite"], { minLength: 1 });

const LEAF = fc.oneof(
  fc.constantFrom(...TIERS, "readonly").map((tier) => `context.tier == ${text(tier)}`),
  fc.constantFrom(
    "context.effects.isEmpty()",
    "context.writes",
    "context.labels.isEmpty()",
    'context.labels.contains("secret")',
    'context.labels == ["secret"]',
    "context.calls < 5",
    "context.calls == 3",
    "5 == context.calls",
    "context.calls != 3",
    "context.calls + 1 < 6",
    "context has host",
    '(context has host && context.host == "a.test")',
    'context.path like "docs/*"',
    'context.path == "docs/a"',
    'context.path != "src/b"',
    "principal is Agent",
    'principal == Agent::"coder"',
    'principal in User::"ada"',
    'resource == Workspace::"/w"',
    'resource in Workspace::"/w"',
    'action == Action::"look"',
    'action in [Action::"git", Action::"note"]',
    "true",
    "false",
  ),
  EFFECT_LISTS.map((list) => `context.effects.containsAny(${texts(list)})`),
  EFFECT_LISTS.map((list) => `context.effects.containsAll(${texts(list)})`),
  EFFECT_LISTS.map((list) => `${texts(list)}.containsAll(context.effects)`),
  fc.constantFrom(...EFFECTS).map((effect) => `context.effects.contains(${text(effect)})`),
);
const { condition: CONDITION } = fc.letrec<{ condition: string }>((tie) => ({
  condition: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    LEAF,
    tie("condition").map((inner) => `!(${inner})`),
    fc.tuple(tie("condition"), tie("condition")).map(([left, right]) => `(${left} || ${right})`),
    fc.tuple(tie("condition"), tie("condition")).map(([left, right]) => `(${left} && ${right})`),
    fc
      .tuple(LEAF, tie("condition"), tie("condition"))
      .map(([when, then, other]) => `(if ${when} then ${then} else ${other})`),
  ),
}));

const SCOPES = {
  principal: [
    "principal",
    "principal",
    'principal == Agent::"coder"',
    'principal in User::"ada"',
    "principal is Agent",
  ],
  action: [
    "action",
    ...ACTIONS.map((action) => `action == Action::${text(action)}`),
    'action in [Action::"note", Action::"look"]',
    'action in Action::"git"',
  ],
  resource: ["resource", "resource", 'resource == Workspace::"/w"'],
};

interface Written {
  readonly scope: readonly [string, string, string];
  readonly when: readonly string[];
  readonly unless: readonly string[];
}

const WRITTEN: fc.Arbitrary<Written> = fc.record({
  scope: fc.tuple(
    fc.constantFrom(...SCOPES.principal),
    fc.constantFrom(...SCOPES.action),
    fc.constantFrom(...SCOPES.resource),
  ),
  when: fc.array(CONDITION, { maxLength: 3 }),
  unless: fc.array(CONDITION, { maxLength: 1 }),
});

/** A rule, and one that may be wider: some of its conditions, in any order, with more alternatives. */
const PAIR = fc
  .tuple(WRITTEN, fc.infiniteStream(fc.nat(5)), LEAF)
  .map(([asking, choices, extra]): readonly [Written, Written] => {
    const next = (): number => choices.next().value ?? 0;
    const when = asking.when.filter(() => next() > 1).map((one) => (next() === 0 ? `(${extra} || ${one})` : one));
    const [principal, action, resource] = asking.scope;
    const scope = [
      next() > 2 ? "principal" : principal,
      next() > 3 ? "action" : action,
      next() > 2 ? "resource" : resource,
    ] as const;
    const other = { scope, when: [...when.reverse(), ...(next() === 0 ? [extra] : [])], unless: asking.unless };
    return [asking, next() === 5 ? { ...other, unless: [] } : other];
  });

function policyOf(cedar: Cedar, id: string, { scope, when, unless }: Written): CedarPolicy {
  const clauses = [...when.map((body) => `when { ${body} }`), ...unless.map((body) => `unless { ${body} }`)];
  const parsed = cedar.policyToJson(`permit(${scope.join(", ")}) ${clauses.join(" ")};`);
  assert.ok(parsed.type === "success", JSON.stringify(parsed));
  return { id, json: parsed.json as unknown as JsonObject };
}

const REQUEST: fc.Arbitrary<CedarRequest> = fc
  .record({
    action: fc.constantFrom(...ACTIONS),
    tier: fc.constantFrom(...TIERS),
    effects: fc.subarray(["fs_read", "net_write"]),
    labels: fc.subarray(["secret", "untrusted"]),
    calls: fc.constantFrom(0, 3, 5, 9),
    path: fc.constantFrom("docs/a", "docs/b", "src/b"),
    writes: fc.boolean(),
    host: fc.constantFrom(undefined, "a.test", "b.test"),
    agent: fc.constantFrom("coder", "writer"),
    user: fc.constantFrom("ada", "bob"),
    workspace: fc.constantFrom("/w", "/v"),
  })
  .map(({ action, tier, effects, host, agent, user, workspace, ...facts }) => {
    const tool = TOOLS.find(({ name, actions = [name] }) => actions.includes(action)) ?? assert.fail(action);
    const narrowed = tool.narrow === undefined ? { tier: tool.tier, effects: [...tool.effects] } : { tier, effects };
    const of = { tool: tool.name, version: tool.version, source: tool.source, isolation: tool.isolation };
    const request = requestFor(action, { ...of, ...narrowed, ...facts, ...(host !== undefined && { host }) });
    const principal = { type: "Agent", id: agent };
    const resource = { type: "Workspace", id: workspace };
    return {
      ...request,
      principal,
      resource,
      entities: [
        { uid: principal, attrs: {}, parents: [{ type: "User", id: user }] },
        { uid: { type: "User", id: user }, attrs: {}, parents: [] },
        { uid: resource, attrs: {}, parents: [] },
      ],
    };
  });

const rule = (id: string, approve: PolicyRule["approve"], overrides: readonly string[] = []): PolicyRule => ({
  id,
  approve,
  overrides,
  rationale: undefined,
  message: undefined,
});

const matches = (policy: CedarPolicy): ((request: CedarRequest) => boolean) => {
  const { engine } = compileCedar([policy], GROUPS);
  assert.ok(engine !== undefined);
  return (request) => engine.evaluate(request).rules.length > 0;
};

test("no request contradicts the analysis of a set of rules", async () => {
  const cedar = await loadCedar();
  const said = { shadowed: 0, overridden: 0, impossible: 0 };
  const asked = fc.sample(REQUEST, { numRuns: 300, seed: 7 });
  fc.assert(
    fc.property(PAIR, fc.boolean(), ([asking, other], isAlways) => {
      const policies = [policyOf(cedar, "asks", asking), policyOf(cedar, "other", other)] as const;
      const rules = isAlways
        ? [rule("asks", "always"), rule("other", "none", ["asks"])]
        : [rule("asks", "human"), rule("other", "unstated")];
      const set = { rules, policies, schema: SCHEMA, variantsOf: toolVariants(TOOLS) };
      const [asks, permits] = [matches(policies[0]), matches(policies[1])];
      for (const { actions } of findShadowed(set).shadowed) {
        said[isAlways ? "overridden" : "shadowed"]++;
        const about = asked.filter(({ action }) => actions.length === 0 || actions.includes(action.id));
        for (const request of about.filter(asks)) assert.ok(permits(request), JSON.stringify(request));
      }
      for (const { ruleId } of findImpossible(set)) {
        said.impossible++;
        assert.equal(asked.some(ruleId === "asks" ? asks : permits), false);
      }
    }),
    { numRuns: 800, seed: 11 },
  );
  for (const [what, count] of Object.entries(said)) assert.ok(count > 20, `${what} was said ${count} times`);
});
