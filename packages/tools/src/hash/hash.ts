import { blake3, createBlake3, KernelError, toHex, utf8 } from "@narthex/contracts";
import { defineTool, type ToolContext } from "@narthex/kernel";
import { contentHashSchema } from "../content-hash-schema.ts";

/** BLAKE3 hash of a text, of bytes, or of content that the session holds. */
export const hash = defineTool({
  name: "hash",
  description:
    "Computes the BLAKE3 hash of some data and answers it as 64 hex digits. Give either `data` (a text, or base64 with " +
    "`encoding`) or `content_hash` (stored content, which is read and hashed again).",
  source: "builtin",
  // No `oneOf` at the top: several model providers refuse tools that have one there.
  inputSchema: {
    type: "object",
    properties: {
      data: { type: "string", description: "What to hash." },
      encoding: {
        enum: ["utf8", "base64"],
        description: "How `data` is written; utf8 if left out. Only beside `data`.",
      },
      content_hash: contentHashSchema("Instead of `data`: stored content, by its hash."),
    },
    additionalProperties: false,
    minProperties: 1,
    dependentRequired: { encoding: ["data"] },
    dependentSchemas: { content_hash: { properties: { data: false, encoding: false } } },
  },
  outputSchema: { type: "string", pattern: "^[0-9a-f]{64}$" },
  resultType: "string",
  determinism: "pure",
  tier: "read_only",
  run({ data = "", encoding, content_hash }, context) {
    if (content_hash !== undefined) return hashContent(content_hash, context);
    return toHex(blake3(encoding === "base64" ? decodeBase64(data) : utf8(data)));
  },
});

async function hashContent(hashHex: string, { content, signal }: ToolContext): Promise<string> {
  const { size } = await content.stat(hashHex);
  const hasher = createBlake3();
  for await (const chunk of content.stream(hashHex, 0, size)) {
    signal.throwIfAborted();
    hasher.update(chunk);
  }
  return toHex(hasher.digest());
}

/** Strict: input that a decoder would skip or guess is refused, so that one text encodes exactly one byte sequence. */
function decodeBase64(text: string): Uint8Array {
  const bytes = Buffer.from(text, "base64");
  if (bytes.toString("base64") === text) return bytes;
  const violation = { field: "data", rule: "format", message: "must be base64 with its padding and nothing else" };
  throw new KernelError("INVALID_INPUT", `data ${violation.message}`, { violations: [violation] });
}
