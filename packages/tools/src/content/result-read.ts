import { DEFAULT_VIEW_BYTES, MAX_INLINE_RESULT_BYTES } from "@narthex/contracts";
import { defineTool } from "@narthex/kernel";
import { contentHash } from "../content-hash.ts";

/** Pages through a result, or any content the session holds. By default as much as a view shows uncut. */
export const resultRead = defineTool({
  name: "result_read",
  description:
    "Reads part of an earlier result, or of stored content, by its hash. Use it when an output was truncated: the line " +
    "before the last one names the hash and the offset to read on from. An empty answer means that the end is reached.",
  source: "builtin",
  inputSchema: {
    type: "object",
    properties: {
      hash: contentHash("The result or content to read."),
      offset: {
        type: "integer",
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER - MAX_INLINE_RESULT_BYTES,
        default: 0,
        description: "The first byte to read.",
      },
      limit: {
        type: "integer",
        minimum: 1,
        maximum: MAX_INLINE_RESULT_BYTES,
        default: DEFAULT_VIEW_BYTES,
        description: `How many bytes to read; more than ${DEFAULT_VIEW_BYTES} are not shown whole.`,
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
