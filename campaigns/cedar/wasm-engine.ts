import {
  type EntityJson,
  type PolicyJson,
  policyToJson,
  policyToText,
  preparsePolicySet,
  statefulIsAuthorized,
} from "@cedar-policy/cedar-wasm/nodejs";
import type { JsonObject } from "@narthex/contracts";
import type { CedarEngine, CedarEntity, CedarPolicy } from "../../packages/kernel/src/policy/cedar/cedar.ts";
import { ACTION_GROUPS, ACTIONS } from "./cedar-world.ts";

/** One at a time: the next set takes the place of the one before. */
const SLOT = "campaign";

/** Cedar itself. Actions and their groups are entities to it. */
export function loadWasmEngine(policies: readonly CedarPolicy[]): CedarEngine {
  const staticPolicies = Object.fromEntries(policies.map(({ id, json }) => [id, json as unknown as PolicyJson]));
  const loaded = preparsePolicySet(SLOT, { staticPolicies });
  if (loaded.type === "failure") throw new Error(`not loaded: ${loaded.errors[0]?.message}`);
  return {
    name: "cedar-wasm",
    evaluate({ entities, ...request }) {
      const answer = statefulIsAuthorized({
        ...request,
        entities: withActions(entities),
        preparsedPolicySetId: SLOT,
      });
      if (answer.type === "failure") throw new Error(`not evaluated: ${answer.errors[0]?.message}`);
      const { decision, diagnostics } = answer.response;
      return {
        allowed: decision === "allow",
        rules: diagnostics.reason.sort(),
        errors: diagnostics.errors
          .map(({ policyId, error }) => ({ rule: policyId, message: error.message }))
          .sort((left, right) => (left.rule < right.rule ? -1 : 1)),
      };
    },
  };
}

/** The same rules by way of Cedar's text, as rules are really loaded. */
export function throughText(policies: readonly CedarPolicy[]): CedarPolicy[] {
  return policies.map(({ id, json }) => {
    const written = policyToText(json as unknown as PolicyJson);
    if (written.type === "failure") throw new Error(`not written: ${written.errors[0]?.message}`);
    const read = policyToJson(written.text);
    if (read.type === "failure") throw new Error(`not read: ${read.errors[0]?.message}`);
    return { id, json: read.json as unknown as JsonObject };
  });
}

function withActions(entities: readonly CedarEntity[]): EntityJson[] {
  const given = new Map(entities.map((entity) => [`${entity.uid.type}::${entity.uid.id}`, entity]));
  for (const id of ACTIONS) {
    const groups = (ACTION_GROUPS.get(id) ?? []).map((group) => ({ type: "Action", id: group }));
    if (groups.length === 0) continue;
    const uid = { type: "Action", id };
    const own = given.get(`Action::${id}`) ?? { uid, attrs: {}, parents: [] };
    given.set(`Action::${id}`, { ...own, parents: [...own.parents, ...groups] });
  }
  return [...given.values()] as unknown as EntityJson[];
}
