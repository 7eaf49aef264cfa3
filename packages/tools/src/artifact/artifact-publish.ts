import { isJsonObject, type JsonObject } from "@narthex/contracts";
import { type Artifact, defineTool, type Reconciliation, type UnsettledIntent } from "@narthex/kernel";
import { toArtifactResult, artifactDraftSchema, publishedArtifactSchema } from "./artifact-schema.ts";

/** Publishes stored content under a permanent name by which other sessions of the tenant can find it. */
export const artifactPublish = defineTool({
  name: "artifact_publish",
  description:
    "Publishes stored content as an artifact under a name of your choice. An artifact never changes: publishing the " +
    "same again answers the same, publishing something else under a taken name fails with ARTIFACT_EXISTS.",
  source: "builtin",
  inputSchema: artifactDraftSchema,
  outputSchema: publishedArtifactSchema,
  resultType: "object",
  effects: ["artifact"],
  determinism: "deterministic",
  tier: "side_effecting",
  capabilities: [{ kind: "artifact", names: ["*"] }],
  needs: ({ category }) => [{ kind: "artifact", names: [category] }],
  run: async ({ metadata = [], ...draft }, { artifacts }) =>
    toArtifactResult(await artifacts.publish({ ...draft, metadata })),
  async reconcile(intent, context): Promise<Reconciliation> {
    if (!isJsonObject(intent.input) || typeof intent.input["artifact_id"] !== "string") return "unknown";
    const found = await context.findArtifact(intent.tenant, intent.input["artifact_id"]);
    if (found === undefined || !isPublishedBy(found, intent, intent.input)) return "did_not_happen";
    return { happened: toArtifactResult(found) };
  },
});

/**
 * Whether this call published the artifact. Another call may have published the same content under the same name; then
 * this call changed nothing.
 */
function isPublishedBy(
  found: Artifact & { readonly requestId: string },
  intent: UnsettledIntent,
  input: JsonObject,
): boolean {
  return (
    found.requestId === intent.requestId &&
    found.content_hash === input["content_hash"] &&
    found.category === input["category"]
  );
}
