import { dirname } from "node:path";
import type { SourceFile } from "ts-morph";
import { FIXED_NAMES } from "./module-names.ts";
import type { SourceProblems } from "./source-problems.ts";

export interface WholeSource {
  readonly text: string;
  /** What is called something at the top of the file. */
  readonly locals: readonly string[];
}

/** The text of a file that can be put into another module; what cannot be moved there is a problem. */
export function readWholeSource(source: SourceFile, output: string, problems: SourceProblems): WholeSource {
  const text = source.getFullText().replaceAll(/\r\n?/g, "\n");
  const locals = source.getLocals().map((symbol) => symbol.getName());
  if (text.startsWith("#!")) problems.addAt(source, 0, "a line with `#!` can only be the first of a file");
  for (const name of FIXED_NAMES) {
    if (locals.includes(name)) problems.addAt(source, 0, `\`${name}\` is needed by the module: call it something else`);
  }
  for (const statement of [...source.getImportDeclarations(), ...source.getExportDeclarations()]) {
    const from = statement.getModuleSpecifierValue();
    if (from === undefined || !/^\.{0,2}\//.test(from)) continue;
    if (!statement.isTypeOnly()) problems.add(statement, "another file cannot be put into the module");
    else if (dirname(output) !== dirname(source.getFilePath())) {
      problems.add(statement, "the module would not find this from where it is to be: write it beside the file");
    }
  }
  return { text, locals };
}
