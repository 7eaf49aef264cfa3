import { isolatedDeclarationSync } from "rolldown/experimental";
import ts from "typescript";

export interface DeclarationHost {
  readonly host: ts.CompilerHost;
  /** Resolves an import of a file. */
  resolve(specifier: string, file: string, mode?: ts.ResolutionMode): ts.ResolvedModuleWithFailedLookupLocations;
  /** The declarations of a source file whose types are all explicit; undefined if some must be inferred. */
  declarationsOf(file: string): string | undefined;
}

const SOURCE = /\/packages\/[^/]+\/src\/.*(?<!\.d)\.ts$/;

/**
 * Makes the compiler read declarations instead of sources, where they can be derived from each file on its own: that is
 * less to parse.
 */
export function createDeclarationHost(configuration: ts.CompilerOptions): DeclarationHost {
  const plain = ts.createCompilerHost(configuration);
  const resolutions = ts.createModuleResolutionCache(plain.getCurrentDirectory(), (name) => name, configuration);
  const known = new Map<string, string | undefined>();

  function declarationsOf(file: string): string | undefined {
    if (!SOURCE.test(file)) return undefined;
    if (!known.has(file)) known.set(file, readOff(file));
    return known.get(file);
  }

  const resolve: DeclarationHost["resolve"] = (specifier, file, mode) =>
    ts.resolveModuleName(specifier, file, configuration, plain, resolutions, undefined, mode);

  const host: ts.CompilerHost = {
    ...plain,
    getSourceFile(file, options, ...rest) {
      const declarations = declarationsOf(file);
      return declarations === undefined
        ? plain.getSourceFile(file, options, ...rest)
        : ts.createSourceFile(file, declarations, options);
    },
    resolveModuleNameLiterals: (literals, file, _redirected, options, containing) =>
      literals.map((literal) => {
        const found = resolve(literal.text, file, ts.getModeForUsageLocation(containing, literal, options));
        const { resolvedModule } = found;
        // The compiler emits no declarations for files found through node_modules, where our packages are linked.
        const isOurs = resolvedModule !== undefined && SOURCE.test(resolvedModule.resolvedFileName);
        return isOurs ? { ...found, resolvedModule: { ...resolvedModule, isExternalLibraryImport: false } } : found;
      }),
  };
  return { host, resolve, declarationsOf };
}

function readOff(file: string): string | undefined {
  const text = ts.sys.readFile(file);
  if (text === undefined) return undefined;
  const { code, errors } = isolatedDeclarationSync(file, text);
  return errors.length === 0 ? code : undefined;
}
