import { readFileSync, statSync } from "node:fs";
import type { Project, SourceFile } from "ts-morph";
import type { Compiler } from "./compiler.ts";
import type { SourceProblems } from "./source-problems.ts";

const MODULE_NAME = /(?<!\.d)\.m?ts$/;
const MAX_SOURCE_BYTES = 4 * 1024 * 1024;

/** Virtual path of the declarations that sources get for `narthex`. No such file exists. */
const NARTHEX_PATH = "/narthex-for-generate/index.ts";

/** The package's types that a signature can use. Both are marked, so that they can be recognized. */
const NARTHEX_TYPES = `
export type Integer = number & { readonly "narthex:integer": true };
export interface ToolContext { readonly "narthex:context": true }
`;

/**
 * Parses the files; `files` maps absolute paths to the names used in messages. Unusable files are reported as problems.
 *
 * SECURITY: nothing is executed. The compiler's options are fixed here and not read from any file, so there are no
 * plugins. Apart from the given files, only their imports are read.
 */
export function openSources(
  compiler: Compiler,
  files: ReadonlyMap<string, string>,
  problems: SourceProblems,
): SourceFile[] {
  const project = createProject(compiler);
  const sources = [...files].flatMap(([path, name]) => {
    const text = readSource(path, name, problems);
    return text === undefined ? [] : [project.createSourceFile(path, text, { overwrite: true })];
  });
  return sources.filter((source) => isSound(compiler, project, source, problems));
}

function createProject(compiler: Compiler): Project {
  const { ModuleKind, ModuleResolutionKind, ScriptTarget } = compiler;
  const project = new compiler.Project({
    compilerOptions: {
      strict: true,
      noEmit: true,
      target: ScriptTarget.ESNext,
      lib: ["lib.esnext.d.ts"],
      module: ModuleKind.ESNext,
      moduleResolution: ModuleResolutionKind.Bundler,
      allowImportingTsExtensions: true,
      types: [],
      // Keeps the order of union members stable, whatever else was parsed.
      stableTypeOrdering: true,
    },
    skipFileDependencyResolution: true,
    resolutionHost: (host, getOptions) => ({
      resolveModuleNames: (names, from) =>
        names.map((name) =>
          name === "narthex"
            ? { resolvedFileName: NARTHEX_PATH }
            : compiler.ts.resolveModuleName(name, from, getOptions(), host).resolvedModule,
        ),
    }),
  });
  project.createSourceFile(NARTHEX_PATH, NARTHEX_TYPES);
  return project;
}

function readSource(path: string, name: string, problems: SourceProblems): string | undefined {
  if (!MODULE_NAME.test(path)) {
    problems.addFile(name, "is not a TypeScript module: its name has to end in .ts or .mts");
    return undefined;
  }
  const facts = statSync(path, { throwIfNoEntry: false });
  if (facts === undefined) problems.addFile(name, "there is no such file");
  else if (!facts.isFile()) problems.addFile(name, "is not a file");
  else if (facts.size > MAX_SOURCE_BYTES) problems.addFile(name, `has more than ${MAX_SOURCE_BYTES} bytes`);
  else return readFileSync(path, "utf8");
  return undefined;
}

function isSound(compiler: Compiler, project: Project, source: SourceFile, problems: SourceProblems): boolean {
  const found = project.getProgram().getSyntacticDiagnostics(source);
  for (const diagnostic of found) {
    const text = compiler.ts.flattenDiagnosticMessageText(diagnostic.compilerObject.messageText, " ");
    problems.addAt(source, diagnostic.getStart(), `syntax error: ${text}`);
  }
  return found.length === 0;
}
