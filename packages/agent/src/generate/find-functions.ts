import type { FunctionDeclaration, Node, SourceFile } from "ts-morph";
import type { Compiler } from "./compiler.ts";
import { lastDoc } from "./doc-text.ts";
import type { SourceProblems } from "./source-problems.ts";

/** A function with the mark `@tool` whose form makes it valid as a tool. */
export interface MarkedFunction {
  readonly declaration: FunctionDeclaration;
  /** Its name in the source file. */
  readonly name: string;
  /** The name under which the file exports it. */
  readonly exportName: string;
}

/**
 * Finds all marked functions of a file, in source order. A mark on anything else is a problem, and so is a file without
 * a mark.
 */
export function findFunctions(source: SourceFile, compiler: Compiler, problems: SourceProblems): MarkedFunction[] {
  const before = problems.count;
  const exported = exportNames(source);
  const marked = findMarked(source, compiler);
  const found = marked.flatMap((node) => checkFunction(node, exported, compiler, problems) ?? []);
  const docs = new Set(marked.map((node) => lastDoc(node, compiler)?.getPos()));
  for (const position of findMarks(source, compiler)) {
    if (!docs.has(position)) problems.addAt(source, position, MISPLACED);
  }
  if (found.length === 0 && problems.count === before) {
    problems.addAt(source, 0, "no function in it is marked with @tool");
  }
  return found;
}

function findMarked(source: SourceFile, compiler: Compiler): Node[] {
  return source.getDescendants().filter((node) => {
    const doc = lastDoc(node, compiler);
    return doc?.getTags().some((tag) => tag.getTagName() === "tool");
  });
}

const MISPLACED = "`@tool` belongs to a function: write `export async function`";

/** Positions of all doc comments with the mark, including those that belong to no declaration. */
function findMarks(source: SourceFile, { ts }: Compiler): ReadonlySet<number> {
  const text = source.getFullText();
  const comments = source
    .getDescendants()
    .flatMap((node) => [
      ...(ts.getTrailingCommentRanges(text, node.getPos()) ?? []),
      ...(ts.getLeadingCommentRanges(text, node.getPos()) ?? []),
    ]);
  const marks = comments.filter(({ pos, end }) => /^\/\*\*[^]*(?<=[\s*])@tool(?![\w.-])/.test(text.slice(pos, end)));
  return new Set(marks.map(({ pos }) => pos));
}

/** The exported declarations of the file, each with the name under which it is exported. */
function exportNames(source: SourceFile): ReadonlyMap<Node, string> {
  const exported = [...source.getExportedDeclarations()];
  return new Map(exported.flatMap(([name, nodes]) => nodes.map((node) => [node, name] as const)));
}

/** Returns the function if it can be a tool; otherwise reports why not. */
function checkFunction(
  node: Node,
  exported: ReadonlyMap<Node, string>,
  { Node: Nodes }: Compiler,
  problems: SourceProblems,
): MarkedFunction | undefined {
  if (Nodes.isMethodDeclaration(node)) return problems.add(node, "a method cannot be a tool: write a function");
  if (!Nodes.isFunctionDeclaration(node)) {
    return problems.add(node, MISPLACED);
  }
  const name = node.getName();
  if (name === undefined) return problems.add(node, "a tool's function needs a name");
  const refuse = (message: string): undefined => problems.add(node.getNameNode() ?? node, `\`${name}\` ${message}`);
  if (node.isOverload() || node.getOverloads().length > 0) return refuse("cannot have overloads");
  if (!Nodes.isSourceFile(node.getParent())) refuse("has to stand at the top of the file");
  else if (!exported.has(node)) refuse("has to be exported");
  if (!node.isAsync()) refuse("has to be async");
  if (node.isGenerator()) refuse("cannot be a generator");
  if (node.getTypeParameters().length > 0) refuse("cannot be generic");
  return { declaration: node, name, exportName: exported.get(node) ?? name };
}
