import type { JsonObject } from "@narthex/contracts";
import type { CedarEntity, CedarRequest } from "./cedar/cedar.ts";
import type { StoredCallFacts, StoredTemplate } from "./request-facts.ts";

/** The Cedar entities for the session and its workspace. SPEC: docs/formats/policy.md. */
export function entitiesOf({ agent, user, tenant, session, workspace }: StoredTemplate): readonly CedarEntity[] {
  const [agentName, userName, tenantName] = [
    { type: "Agent", id: agent },
    { type: "User", id: user },
    { type: "Tenant", id: tenant },
  ];
  return [
    { uid: agentName, attrs: { name: agent, session, tenant, user }, parents: [userName, tenantName] },
    { uid: userName, attrs: { name: user, tenant }, parents: [tenantName] },
    { uid: tenantName, attrs: { name: tenant }, parents: [] },
    { uid: { type: "Workspace", id: workspace }, attrs: { path: workspace }, parents: [] },
  ];
}

/** Builds the Cedar request. INVARIANT: re-evaluating a stored request builds exactly the same Cedar request. */
export function cedarRequest(
  form: StoredTemplate,
  entities: readonly CedarEntity[],
  { derived, ...call }: StoredCallFacts,
  input: JsonObject,
): CedarRequest {
  return {
    principal: { type: "Agent", id: form.agent },
    action: { type: "Action", id: form.action },
    resource: { type: "Workspace", id: form.workspace },
    context: asContext({
      ...derived,
      definition_hash: form.definition_hash,
      determinism: form.determinism,
      directory: form.directory,
      effects: form.effects,
      isolation: form.isolation,
      labels: form.labels,
      source: form.source,
      tier: form.tier,
      tool: form.tool,
      version: form.version,
      ...call,
      input,
    }),
    entities,
  };
}

/** Casts readonly lists, which are never modified here, to JSON's mutable type. */
function asContext(facts: object): JsonObject {
  return facts as JsonObject;
}
