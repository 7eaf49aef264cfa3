import { MAX_ARG_LEN, MAX_ID_LEN, MAX_REPEATED_ITEMS } from "@narthex/contracts";
import type { Artifact } from "@narthex/kernel";
import { contentHashSchema } from "../content-hash-schema.ts";

/** SPEC: the limits of `ArtifactPublish` in the wire protocol, INV-0030 to INV-0034. */
export const artifactIdSchema = {
  type: "string",
  minLength: 1,
  maxLength: MAX_ID_LEN,
  description: "The artifact's name, such as test-results-001. One name stands for one artifact for good.",
} as const;

export const artifactDraftSchema = {
  type: "object",
  properties: {
    artifact_id: artifactIdSchema,
    content_hash: contentHashSchema("The content to publish; it must have been stored before."),
    category: {
      type: "string",
      minLength: 1,
      maxLength: MAX_ID_LEN,
      description: "What kind of thing it is, such as test_results. Rights are given by category.",
    },
    metadata: {
      type: "array",
      default: [],
      items: { type: "string", maxLength: MAX_ARG_LEN, format: "key-value" },
      maxItems: MAX_REPEATED_ITEMS,
      description: "Facts about it, each as `key=value` with exactly one `=`.",
    },
  },
  required: ["artifact_id", "content_hash", "category"],
  additionalProperties: false,
} as const;

export const publishedArtifactSchema = {
  type: "object",
  properties: {
    artifact_id: { type: "string" },
    content_hash: { type: "string" },
    category: { type: "string" },
    metadata: { type: "array", items: { type: "string" } },
    size: { type: "integer", description: "Bytes." },
    published_at_ms: { type: "integer", description: "In the publishing session's logical time." },
  },
  required: ["artifact_id", "content_hash", "category", "metadata", "size", "published_at_ms"],
  additionalProperties: false,
} as const;

/** The result object of the artifact tools. It has exactly the declared fields, even if the store's object has more. */
export function toArtifactResult(artifact: Artifact) {
  return {
    artifact_id: artifact.artifact_id,
    content_hash: artifact.content_hash,
    category: artifact.category,
    metadata: [...artifact.metadata],
    size: artifact.size,
    published_at_ms: artifact.published_at_ms,
  };
}
