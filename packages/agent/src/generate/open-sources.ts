import { readFileSync, statSync } from "node:fs";
import type { Project, SourceFile } from "ts-morph";
import type { Compiler } from "./compiler.ts";
import type { SourceProblems } from "./source-problems.ts";

const MODULE_NAME = /(?<!\.d)\.m?ts$/;
const MAX_SOURCE_BYTES = 4 * 1024 * 1024;

/** Where the declarations stand that sources get for `narthex`. No file is there. */
const NARTHEX_PATH = "/narthex-for-generate/index.ts";

/** What a signature can mention of the package. Both are marked, so that a type which is one of them is known by it. */
const NARTHEX_TYPES = `
export type Integer = number & { readonly "narthex:integer": true };
export interface ToolContext { readonly "narthex:context": true }
`;

/**
 * Reads the files, given by absolute path with the name they were called by. Files that cannot be used are problems.
 *
 * SECURITY: nothing is executed. The compiler's options are these and no file's, so there are no plugins, and what is
 * read besides the files is what they import.
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
      // The members of a union always come in the same order, whatever else was read.
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
