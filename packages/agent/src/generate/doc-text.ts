import type { JSDoc, Node } from "ts-morph";
import type { Compiler } from "./compiler.ts";

/** The doc comment of a declaration: the last one before it. */
export function lastDoc(node: Node, { Node: Nodes }: Compiler): JSDoc | undefined {
  return Nodes.isJSDocable(node) ? node.getJsDocs().at(-1) : undefined;
}

/** What it says before its first tag; empty for nothing. */
export function readText(node: Node, compiler: Compiler): string {
  return plainText(lastDoc(node, compiler)?.getCommentText());
}

/** Whether a property says that it is a whole number. */
export function readIntegerTag(node: Node, compiler: Compiler): boolean {
  return (
    lastDoc(node, compiler)
      ?.getTags()
      .some((tag) => tag.getTagName() === "integer") ?? false
  );
}

/** A text of a comment, the same whatever the file's line ends are. */
export function plainText(text: string | undefined): string {
  return (text ?? "").replaceAll(/\r\n?/g, "\n").trim();
}
