/** A node of a syntax tree; only a few types of nodes are used. */
export type SyntaxNode = Readonly<Record<string, unknown>>;

export function isNode(value: unknown): value is SyntaxNode {
  return typeof value === "object" && value !== null && "type" in value;
}

/** The text of a literal: a string, or a template without placeholders. */
export function readText(node: unknown): string | undefined {
  if (!isNode(node)) return undefined;
  if (node["type"] === "Literal" && typeof node["value"] === "string") return node["value"];
  if (node["type"] !== "TemplateLiteral") return undefined;
  const quasis = readQuasis(node);
  return quasis.length === 1 ? quasis[0] : undefined;
}

/** The texts of a template between its placeholders. */
export function readQuasis({ quasis }: SyntaxNode): string[] {
  if (!Array.isArray(quasis)) return [];
  return quasis.filter(isNode).map(({ value }) => String((value as { readonly cooked: unknown }).cooked));
}
