import { isBuiltin } from "node:module";
import { dirname } from "node:path";
import type { Node, SourceFile } from "ts-morph";
import type { Compiler } from "./compiler.ts";
import { FIXED_NAMES } from "./module-names.ts";
import type { SourceProblems } from "./source-problems.ts";

export interface StandaloneSource {
  readonly text: string;
  /** What is called something at the top of the file. */
  readonly locals: readonly string[];
}

/** The text of a file that can be put into another module; what cannot be moved there is a problem. */
export function readStandaloneSource(
  source: SourceFile,
  output: string,
  compiler: Compiler,
  problems: SourceProblems,
): StandaloneSource {
  const text = source.getFullText().replaceAll(/\r\n?/g, "\n");
  const locals = source.getLocals().map((symbol) => symbol.getName());
  if (text.startsWith("#!")) problems.addAt(source, 0, "a line with `#!` can only be the first of a file");
  const taken = new Set([...locals, ...source.getExportSymbols().map((symbol) => symbol.getName())]);
  for (const name of FIXED_NAMES) {
    if (taken.has(name)) problems.addAt(source, 0, `\`${name}\` is needed by the module: call it something else`);
  }
  const isMoved = dirname(output) !== dirname(source.getFilePath());
  for (const { node, from, isType } of findImports(source, compiler)) {
    if (!isType && !isAlwaysThere(from)) problems.add(node, "another file cannot be put into the module");
    else if (isMoved && /^\.{0,2}\//.test(from)) {
      problems.add(node, "the module would not find this from where it is to be: write it beside the file");
    }
  }
  return { text, locals };
}

interface Import {
  readonly node: Node;
  /** What it names; empty where that is known only when it runs. */
  readonly from: string;
  /** Nothing is loaded for it. */
  readonly isType: boolean;
}

function findImports(source: SourceFile, { Node: Nodes }: Compiler): Import[] {
  return source.getDescendants().flatMap((node): Import[] => {
    if (Nodes.isImportDeclaration(node) || Nodes.isExportDeclaration(node)) {
      const from = node.getModuleSpecifierValue();
      return from === undefined ? [] : [{ node, from, isType: node.isTypeOnly() }];
    }
    if (Nodes.isImportTypeNode(node)) {
      const literal = node.getArgument();
      return [{ node, from: literal.getText().slice(1, -1), isType: true }];
    }
    if (Nodes.isCallExpression(node) && Nodes.isImportExpression(node.getExpression())) {
      const [named] = node.getArguments();
      const isText = Nodes.isStringLiteral(named) || Nodes.isNoSubstitutionTemplateLiteral(named);
      return [{ node, from: isText ? named.getLiteralText() : "", isType: false }];
    }
    return [];
  });
}

/** What comes with Node, and the package whose tools these are. */
function isAlwaysThere(from: string): boolean {
  return isBuiltin(from) || from === "narthex";
}
