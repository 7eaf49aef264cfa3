import { isBuiltin } from "node:module";
import { dirname } from "node:path";
import type { Node, SourceFile } from "ts-morph";
import type { Compiler } from "./compiler.ts";
import { FIXED_NAMES } from "./module-names.ts";
import type { SourceProblems } from "./source-problems.ts";

export interface StandaloneSource {
  readonly text: string;
  /** The names declared or imported at the top level of the file. */
  readonly locals: readonly string[];
}

/** Returns the text of a file for inclusion in another module; reports code that cannot be moved there. */
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
  /** The module specifier; empty if it is known only at run time. */
  readonly from: string;
  /** Whether the import is for types only, so that nothing is loaded at run time. */
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

/** Whether a module is always available: the modules of Node, and the package that the tools are for. */
function isAlwaysThere(from: string): boolean {
  return isBuiltin(from) || from === "narthex";
}
