import assert from "node:assert/strict";
import { join, relative } from "node:path";
import ts from "typescript";
import { REPOSITORY } from "../../scripts/checks/run-tool.ts";
import type { Installation } from "./installation.ts";

/**
 * The problems of a program of the installation's folder and of the declarations it uses: of ours all, of those that
 * came with us that something they name is not there. Of Node and typebox it sees the types that are here, and leaves
 * to them whether they hold.
 */
export function compileProgram({ folder }: Installation, files: readonly string[]): string[] {
  const modules = join(REPOSITORY, "node_modules");
  const typebox = join(modules, "typebox/");
  const external = join(folder, "node_modules/narthex/dist/types/external/");
  const program = ts.createProgram({
    rootNames: files.map((file) => join(folder, file)),
    options: {
      target: ts.ScriptTarget.ES2024,
      // No browser: most programs on Node do not have its types.
      lib: ["lib.es2024.d.ts", "lib.esnext.disposable.d.ts"],
      module: ts.ModuleKind.NodeNext,
      strict: true,
      exactOptionalPropertyTypes: true,
      noUncheckedIndexedAccess: true,
      noEmit: true,
      typeRoots: [join(modules, "@types")],
      types: ["node"],
      paths: { typebox: [join(typebox, "build/index.d.mts")] },
    },
  });
  const all = program.getSourceFiles().filter(({ fileName }) => fileName.startsWith(folder));
  const brought = all.filter(({ fileName }) => fileName.startsWith(external));
  assert.ok(brought.length > 100 && all.length - brought.length > 150);
  const found = [
    ...program.getOptionsDiagnostics(),
    ...program.getGlobalDiagnostics(),
    ...all.flatMap((file) => program.getSyntacticDiagnostics(file)),
    ...all.filter((file) => !brought.includes(file)).flatMap((file) => program.getSemanticDiagnostics(file)),
  ];
  // A definition of a tool that has the compiler look for schemas where none are costs a million, and seconds.
  assert.ok(program.getInstantiationCount() < 100_000, `${program.getInstantiationCount()} instantiations`);
  const problems = found.map(({ file, start = 0, code }) => {
    const line = file === undefined ? 0 : file.getLineAndCharacterOfPosition(start).line + 1;
    return `${relative(folder, file?.fileName ?? folder)}:${line} TS${code}`;
  });
  return [...problems, ...brought.flatMap((file) => missingNames(program.getTypeChecker(), file))];
}

/** What a declaration imports or passes on that is nowhere: how files are put together is ours, what they say is not. */
function missingNames(checker: ts.TypeChecker, file: ts.SourceFile): string[] {
  const missing: string[] = [];
  const isThere = (name: ts.Node): boolean => {
    const symbol = checker.getSymbolAtLocation(name);
    if (symbol === undefined) return false;
    return (symbol.flags & ts.SymbolFlags.Alias) === 0 || checker.getAliasedSymbol(symbol).escapedName !== "unknown";
  };
  const visit = (node: ts.Node): void => {
    const isModule =
      ts.isStringLiteral(node) && (ts.isImportDeclaration(node.parent) || ts.isExportDeclaration(node.parent));
    const isName = ts.isImportSpecifier(node) || ts.isExportSpecifier(node);
    const named = isName ? node.name : isModule ? node : undefined;
    if (named !== undefined && !isThere(named)) missing.push(`${file.fileName}: ${named.text}`);
    ts.forEachChild(node, visit);
  };
  for (const statement of file.statements) {
    if (ts.isImportDeclaration(statement) || ts.isExportDeclaration(statement)) visit(statement);
  }
  return missing;
}
