import type { JSDoc, Node } from "ts-morph";
import type { Compiler } from "./compiler.ts";

/** The doc comment of a declaration: the last one before it. */
export function lastDoc(node: Node, { Node: Nodes }: Compiler): JSDoc | undefined {
  return Nodes.isJSDocable(node) ? node.getJsDocs().at(-1) : undefined;
}

/** The text of the doc comment before its first tag; empty without a doc comment. */
export function readText(node: Node, compiler: Compiler): string {
  return plainText(lastDoc(node, compiler)?.getCommentText());
}

/** Whether a property has the tag that marks it as an integer. */
export function readIntegerTag(node: Node, compiler: Compiler): boolean {
  return (
    lastDoc(node, compiler)
      ?.getTags()
      .some((tag) => tag.getTagName() === "integer") ?? false
  );
}

/** A comment's text with normalized line ends. */
export function plainText(text: string | undefined): string {
  return (text ?? "").replaceAll(/\r\n?/g, "\n").trim();
}
