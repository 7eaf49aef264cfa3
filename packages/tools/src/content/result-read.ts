import { DEFAULT_VIEW_BYTES, MAX_INLINE_RESULT_BYTES } from "@narthex/contracts";
import { defineTool } from "@narthex/kernel";
import { contentHashSchema } from "../content-hash-schema.ts";

/**
 * Pages through a result, or through any content that the session holds. The default page size is what a result view
 * shows without truncation.
 */
export const resultRead = defineTool({
  name: "result_read",
  description:
    "Reads on in a result that was cut: the cut result names the hash and the offset to continue from. An empty answer " +
    "means the end.",
  source: "builtin",
  inputSchema: {
    type: "object",
    properties: {
      hash: contentHashSchema("Of the result."),
      offset: {
        type: "integer",
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER - MAX_INLINE_RESULT_BYTES,
        default: 0,
        description: "First byte.",
      },
      limit: {
        type: "integer",
        minimum: 1,
        maximum: MAX_INLINE_RESULT_BYTES,
        default: DEFAULT_VIEW_BYTES,
        description: `Bytes to read; above ${DEFAULT_VIEW_BYTES} the answer is cut again.`,
      },
    },
    required: ["hash"],
    additionalProperties: false,
  },
  resultType: "binary",
  determinism: "pure",
  tier: "read_only",
  run: ({ hash, offset = 0, limit = DEFAULT_VIEW_BYTES }, { content }) => content.read(hash, offset, limit),
});
