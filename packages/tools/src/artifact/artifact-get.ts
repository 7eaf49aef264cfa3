import { KernelError } from "@narthex/contracts";
import { defineTool } from "@narthex/kernel";
import { toArtifactResult, artifactIdSchema, publishedArtifactSchema } from "./artifact-schema.ts";

/** Finds an artifact by its name. From then on the session may read its content. */
export const artifactGet = defineTool({
  name: "artifact_get",
  description:
    "Finds a published artifact by its name. Answers its content hash, category, metadata and size, and lets you read " +
    "the content with result_read.",
  source: "builtin",
  inputSchema: {
    type: "object",
    properties: { artifact_id: artifactIdSchema },
    required: ["artifact_id"],
    additionalProperties: false,
  },
  outputSchema: publishedArtifactSchema,
  resultType: "object",
  determinism: "deterministic",
  tier: "read_only",
  async run({ artifact_id }, { artifacts }) {
    const artifact = await artifacts.get(artifact_id);
    if (artifact !== undefined) return toArtifactResult(artifact);
    throw new KernelError("CONTENT_NOT_FOUND", "no artifact of that name is published: check `artifact_id`");
  },
});
