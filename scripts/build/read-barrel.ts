import ts from "typescript";

/** The file that declares each name exported by a package's index. Modules exported as a namespace are not included. */
export type Barrel = ReadonlyMap<string, { readonly file: string; readonly name: string }>;

const FRONT_DOOR = /\/packages\/[^/]+\/src\/index\.ts$|\/node_modules\/.*\/index\.d\.[mc]?ts$/;

/** Resolves every name of a package's index to the file that declares it; undefined for other files. */
export function readBarrel(file: string, program: ts.Program): Barrel | undefined {
  if (!FRONT_DOOR.test(file)) return undefined;
  const checker = program.getTypeChecker();
  const source = program.getSourceFile(file);
  const module = source && checker.getSymbolAtLocation(source);
  if (module === undefined) throw new Error(`${file} is no module`);
  const barrel = new Map<string, { file: string; name: string }>();
  for (const shown of checker.getExportsOfModule(module)) {
    const declared = shown.flags & ts.SymbolFlags.Alias ? checker.getAliasedSymbol(shown) : shown;
    if (declared.flags & ts.SymbolFlags.ValueModule) continue;
    const origin = declared.declarations?.[0]?.getSourceFile().fileName;
    if (origin === undefined) throw new Error(`${file}: \`${shown.name}\` is declared nowhere`);
    barrel.set(shown.name, { file: origin, name: declared.name });
  }
  return barrel;
}
