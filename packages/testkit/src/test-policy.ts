import { blake3, canonicalJsonBytes, type JsonObject, type JsonValue } from "@narthex/contracts";
import {
  type CedarPolicy,
  compileCedar,
  createPolicy,
  type Policy,
  type PolicyRule,
  policySchema,
  type Tool,
} from "@narthex/kernel";

/** A rule in Cedar's JSON form, as short as tests need it. */
export interface TestRule {
  readonly id: string;
  /** Every action if left out. */
  readonly action?: string;
  readonly effect?: "permit" | "forbid";
  readonly approve?: PolicyRule["approve"];
  readonly overrides?: readonly string[];
  readonly rationale?: string;
  readonly message?: string;
  /** An expression in Cedar's JSON form. */
  readonly when?: JsonValue;
}

/** A policy without files and without Cedar's own engine: the rules are given in parsed form. */
export function createTestPolicy(rules: readonly TestRule[], tools: readonly Tool[]): Policy {
  const schema = policySchema(
    tools.map((tool) => ({ declaration: tool, actions: tool.actions, facts: tool.derived?.schema })),
  );
  const policies = rules.map(cedarPolicy);
  const groups = new Map(schema.actions.map((action) => [action, schema.groupsOf(action).slice(1)]));
  const { engine, unsupported } = compileCedar(policies, groups);
  if (engine === undefined) throw new Error(`${unsupported.rule}: ${unsupported.message}`);
  const bytes = canonicalJsonBytes(policies.map(({ id, json }) => ({ id, json })));
  return createPolicy({
    set: {
      hash: blake3(bytes),
      schemaHash: schema.hash,
      engine: engine.name,
      fallback: "",
      ruleCount: rules.length,
      warnings: [],
      bytes,
      schemaBytes: schema.bytes,
    },
    rules: rules.map(({ id, approve = "unstated", overrides = [], rationale, message }) => ({
      id,
      approve,
      overrides,
      rationale,
      message,
    })),
    policies,
    schema,
    engine,
    explain: () => Promise.resolve([]),
  });
}

/** Permits every action of these tools, and nothing else. */
export function permitAll(tools: readonly Tool[], approve: PolicyRule["approve"] = "unstated"): Policy {
  const actions = new Set(tools.flatMap(({ name, actions: own }) => own ?? [name]));
  return createTestPolicy(
    [...actions].map((action) => ({ id: `permit-${action}`, action, approve })),
    tools,
  );
}

function cedarPolicy({ id, action, effect = "permit", when }: TestRule): CedarPolicy {
  const scope: JsonObject = action === undefined ? { op: "All" } : { op: "==", entity: { type: "Action", id: action } };
  return {
    id,
    json: {
      effect,
      principal: { op: "All" },
      action: scope,
      resource: { op: "All" },
      conditions: when === undefined ? [] : [{ kind: "when", body: when }],
    },
  };
}
