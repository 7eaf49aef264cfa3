import { defineTool } from "narthex";

const text = { type: "object", required: ["text"], properties: { text: { type: "string" } } } as const;

/** Every export that is a tool becomes one. */
export const slugify = defineTool({
  name: "slugify",
  description: "Makes a name for a URL out of a title.",
  inputSchema: text,
  resultType: "string",
  determinism: "pure",
  tier: "read_only",
  run: ({ text: title }) => words(title).join("-"),
});

export const acronym = defineTool({
  name: "acronym",
  description: "The first letters of a title's words.",
  inputSchema: text,
  resultType: "string",
  determinism: "pure",
  tier: "read_only",
  run: ({ text: title }) =>
    words(title)
      .map((word) => word.charAt(0).toUpperCase())
      .join(""),
});

function words(title: string): string[] {
  const plain = title.normalize("NFKD").replaceAll(/\p{M}/gu, "").toLowerCase();
  return plain.match(/[a-z0-9]+/gu) ?? [];
}
