import { mkdir, writeFile } from "node:fs/promises";
import { builtinModules } from "node:module";
import { dirname, join, relative } from "node:path";
import ts from "typescript";
import { REPOSITORY } from "../checks/run-tool.ts";
import { createDeclarationHost } from "./declaration-host.ts";
import { type Barrel, readBarrel } from "./read-barrel.ts";

export interface TypesOptions {
  /** The source files whose declarations are published, with everything that they refer to. */
  readonly entries: readonly string[];
  readonly directory: string;
  /** Packages that are installed beside this one, so that their declarations are found there. */
  readonly installed: readonly string[];
}

export interface BundledTypes {
  /** Paths of the entries' declarations, relative to the directory and in the same order. */
  readonly entries: readonly string[];
  /** The files whose declarations were written. */
  readonly files: readonly string[];
}

/** A change of a text: replaces the range between the two positions. */
interface Edit {
  readonly from: number;
  readonly to: number;
  readonly text: string;
}

/**
 * Writes the declarations of the entries and of all files that they refer to, including those of bundled packages,
 * which are not installed.
 *
 * Imports from a package's index are redirected to the declaring files: an index exports everything of its package, so
 * one type would bring in the declarations of every dependency.
 */
export async function bundleTypes({ entries, directory, installed }: TypesOptions): Promise<BundledTypes> {
  const configuration = readConfiguration();
  const { host, resolve: resolveModule, declarationsOf } = createDeclarationHost(configuration);
  const program = ts.createProgram(entries, configuration, host);
  const barrels = new Map<string, Barrel | undefined>();
  const reached = new Set(entries);
  for (const file of reached) {
    const text = isDeclaration(file)
      ? ts.sys.readFile(file)
      : (declarationsOf(file) ?? emitDeclarations(program, file));
    if (text === undefined) throw new Error(`there are no declarations of ${file}`);
    const target = join(directory, declarationPath(file));
    await mkdir(dirname(target), { recursive: true });
    await writeFile(target, rewrite(file, text));
  }
  return { entries: entries.map(declarationPath), files: [...reached] };

  function rewrite(file: string, text: string): string {
    const source = ts.createSourceFile(file, text, ts.ScriptTarget.Latest, true);
    const edits: Edit[] = [];
    const visit = (node: ts.Node): void => {
      if (ts.isImportDeclaration(node) || ts.isExportDeclaration(node)) edits.push(...editStatement(file, node));
      else if (ts.isImportTypeNode(node)) edits.push(...editImportType(file, node));
      ts.forEachChild(node, visit);
    };
    visit(source);
    for (const { from, to, text: replacement } of edits.sort((left, right) => right.from - left.from)) {
      text = text.slice(0, from) + replacement + text.slice(to);
    }
    return text;
  }

  function editStatement(file: string, node: ts.ImportDeclaration | ts.ExportDeclaration): Edit[] {
    const specifier = node.moduleSpecifier;
    if (specifier === undefined || !ts.isStringLiteral(specifier)) return [];
    const target = resolve(file, specifier.text);
    if (target === undefined) return [];
    const barrel = barrelAt(target);
    const bindings = ts.isImportDeclaration(node) ? node.importClause?.namedBindings : node.exportClause;
    const isNamed = bindings !== undefined && (ts.isNamedImports(bindings) || ts.isNamedExports(bindings));
    if (barrel === undefined || !isNamed) return [editSpecifier(file, specifier, target)];
    const isTypeOnly = ts.isImportDeclaration(node)
      ? node.importClause?.phaseModifier === ts.SyntaxKind.TypeKeyword
      : node.isTypeOnly;
    const keyword = `${ts.isImportDeclaration(node) ? "import" : "export"}${isTypeOnly ? " type" : ""}`;
    const statements = bindings.elements.map((element) => {
      const name = (element.propertyName ?? element.name).text;
      const origin = barrel.get(name) ?? { file: target, name };
      const prefix = element.isTypeOnly ? "type " : "";
      const renamed = origin.name === element.name.text ? origin.name : `${origin.name} as ${element.name.text}`;
      return `${keyword} { ${prefix}${renamed} } from "${reach(file, origin.file)}";`;
    });
    return [{ from: node.getStart(), to: node.getEnd(), text: statements.join("\n") }];
  }

  function editImportType(file: string, node: ts.ImportTypeNode): Edit[] {
    if (!ts.isLiteralTypeNode(node.argument) || !ts.isStringLiteral(node.argument.literal)) return [];
    const specifier = node.argument.literal;
    const target = resolve(file, specifier.text);
    if (target === undefined) return [];
    const barrel = barrelAt(target);
    if (barrel === undefined) return [editSpecifier(file, specifier, target)];
    let first = node.qualifier;
    while (first !== undefined && ts.isQualifiedName(first)) first = first.left;
    if (first === undefined) throw new Error(`${file}: \`${node.getText()}\` names nothing of its module`);
    const origin = barrel.get(first.text) ?? { file: target, name: first.text };
    return [
      editSpecifier(file, specifier, origin.file),
      { from: first.getStart(), to: first.getEnd(), text: origin.name },
    ];
  }

  function editSpecifier(file: string, specifier: ts.StringLiteral, target: string): Edit {
    return { from: specifier.getStart(), to: specifier.getEnd(), text: `"${reach(file, target)}"` };
  }

  /** The file that a specifier refers to; undefined for a specifier that stays unchanged. */
  function resolve(file: string, specifier: string): string | undefined {
    if (builtinModules.includes(specifier.replace(/^node:/, "")) || specifier.startsWith("node:")) return undefined;
    if (installed.some((name) => specifier === name || specifier.startsWith(`${name}/`))) return undefined;
    const { resolvedModule } = resolveModule(specifier, file, ts.ModuleKind.ESNext);
    if (resolvedModule === undefined) throw new Error(`${file}: \`${specifier}\` cannot be found`);
    return resolvedModule.resolvedFileName;
  }

  function barrelAt(file: string): Barrel | undefined {
    if (!barrels.has(file)) barrels.set(file, readBarrel(file, program));
    return barrels.get(file);
  }

  function reach(file: string, target: string): string {
    reached.add(target);
    const path = relative(dirname(declarationPath(file)), declarationPath(target)).replace(/\.d\.([mc]?)ts$/, ".$1js");
    return path.startsWith(".") ? path : `./${path}`;
  }
}

function isDeclaration(file: string): boolean {
  return /\.d\.[mc]?ts$/.test(file);
}

function readConfiguration(): ts.CompilerOptions {
  const path = join(REPOSITORY, "tsconfig.json");
  const { config } = ts.readConfigFile(path, ts.sys.readFile) as { config: unknown };
  // No type check: that is a separate step, and would take twenty seconds here.
  const options = { noEmit: false, declaration: true, emitDeclarationOnly: true, noCheck: true };
  return ts.parseJsonConfigFileContent(config, ts.sys, REPOSITORY, options).options;
}

function emitDeclarations(program: ts.Program, file: string): string | undefined {
  const source = program.getSourceFile(file);
  if (source === undefined) return undefined;
  let declarations: string | undefined;
  const { diagnostics } = program.emit(source, (_path, text) => {
    declarations = text;
  });
  const [problem] = diagnostics;
  if (problem !== undefined) throw new Error(ts.flattenDiagnosticMessageText(problem.messageText, "\n"));
  return declarations;
}

/** `packages/kernel/src/tool/tool.ts` becomes `kernel/tool/tool.d.ts`; files of other packages go into `external`. */
function declarationPath(file: string): string {
  const path = relative(REPOSITORY, file);
  const place = path.includes("node_modules/")
    ? `external/${path.slice(path.lastIndexOf("node_modules/") + "node_modules/".length)}`
    : path.replace(/^packages\/([^/]+)\/src\//, "$1/");
  return place.replace(/(?<!\.d)\.([mc]?)ts$/, ".d.$1ts");
}
