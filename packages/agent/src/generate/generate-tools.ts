import type { SourceFile } from "ts-morph";
import { declareTools } from "../declare/declare-tools.ts";
import type { FunctionDecl } from "../declare/function-decl.ts";
import type { Compiler } from "./compiler.ts";
import { findFunctions } from "./find-functions.ts";
import { openSources } from "./open-sources.ts";
import { importPath, printImportingModule, printStandaloneModule } from "./print-module.ts";
import { readFunction } from "./read-function.ts";
import { createSourceProblems, type SourceProblems } from "./source-problems.ts";
import type { ToolSource } from "./tool-source.ts";
import { readStandaloneSource } from "./standalone-source.ts";

/** The tools generated from some source files. */
export interface GeneratedTools {
  /** Provider-neutral declarations for models. */
  readonly declarations: readonly FunctionDecl[];
  /**
   * Prints the module that declares the tools and imports their functions. `output` is the absolute path where the
   * module will be. Throws INVALID_DECLARATION.
   */
  printModule(output: string): string;
  /**
   * Prints the module together with the functions of its only source file, so that it is self-contained. Throws
   * INVALID_DECLARATION.
   */
  printStandaloneModule(output: string): string;
}

/**
 * Generates tools from the exported async functions with the mark `@tool`, using their signatures and doc comments.
 * `files` maps absolute paths to the names used in messages. Throws INVALID_DECLARATION with every problem of every
 * file, each with its position.
 */
export function generateTools(compiler: Compiler, files: ReadonlyMap<string, string>): GeneratedTools {
  const sorted = new Map([...files].toSorted(([one], [other]) => (one < other ? -1 : 1)));
  const problems = createSourceProblems(sorted);
  const sources = openSources(compiler, sorted, problems);
  const tools = readTools(sources, compiler, problems);
  problems.throwIfAny();
  return {
    declarations: declareTools(tools).decls,
    printModule(output) {
      for (const source of sources) {
        const path = importPath(output, source.getFilePath());
        // Characters that are special in a URL or removed from it.
        if (/[%?#\\\t\n\r]/.test(path)) problems.addAt(source, 0, "no module can import a file of this name");
      }
      problems.throwIfAny();
      return printImportingModule(tools, output);
    },
    printStandaloneModule(output) {
      const wholes = sources.map((source) => readStandaloneSource(source, output, compiler, problems));
      for (const source of sources.slice(1)) problems.addAt(source, 0, "only one file can be put into the module");
      problems.throwIfAny();
      const [{ text, locals } = { text: "", locals: [] }] = wholes;
      return printStandaloneModule(tools, text, locals);
    },
  };
}

function readTools(sources: readonly SourceFile[], compiler: Compiler, problems: SourceProblems): ToolSource[] {
  const names = new Set<string>();
  return sources.flatMap((source) => {
    return findFunctions(source, compiler, problems).flatMap((found) => {
      const tool = readFunction(found, compiler, problems);
      if (tool === undefined) return [];
      const place = found.declaration.getNameNode() ?? found.declaration;
      if (names.has(tool.name)) problems.add(place, `there is another tool \`${tool.name}\`: two cannot have one name`);
      names.add(tool.name);
      return [tool];
    });
  });
}
