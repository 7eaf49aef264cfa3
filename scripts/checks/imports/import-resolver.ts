import { existsSync, readFileSync, realpathSync } from "node:fs";
import { isBuiltin } from "node:module";
import { dirname, join, relative } from "node:path";
import { ResolverFactory } from "rolldown/experimental";

/**
 * The kind of an import's target: a file of the tree, a module of Node, an installed package as declared in the
 * manifests above the importing file, or nothing.
 */
export type TargetKind = "file" | "core" | "dependency" | "development-dependency" | "undeclared" | "missing";

export interface Target {
  readonly kind: TargetKind;
  /** For a file, relative to the root. */
  readonly path: string;
}

export interface ImportResolver {
  resolve(file: string, specifier: string): Target;
}

interface Manifest {
  readonly needed: ReadonlySet<string>;
  readonly development: ReadonlySet<string>;
}

/** Resolves imports as Node does. A package is classified by the nearest manifest, up to the root's. */
export function createImportResolver(root: string): ImportResolver {
  const real = realpathSync(root);
  const factory = new ResolverFactory({ conditionNames: ["import", "node", "default"], extensions: [".js", ".json"] });
  const manifests = new Map<string, readonly Manifest[]>();

  function manifestsAbove(folder: string): readonly Manifest[] {
    const known = manifests.get(folder);
    if (known !== undefined) return known;
    const above = folder === "." ? [] : manifestsAbove(dirname(folder));
    const path = join(real, folder, "package.json");
    const found = existsSync(path) ? [parseManifest(readFileSync(path, "utf8")), ...above] : above;
    manifests.set(folder, found);
    return found;
  }

  function kindOfPackage(file: string, specifier: string): TargetKind {
    const name = specifier.split("/", specifier.startsWith("@") ? 2 : 1).join("/");
    for (const { needed, development } of manifestsAbove(dirname(file))) {
      if (needed.has(name)) return "dependency";
      if (development.has(name)) return "development-dependency";
    }
    return "undeclared";
  }

  return {
    resolve(file, specifier) {
      if (isBuiltin(specifier)) return { kind: "core", path: specifier };
      const { path } = factory.sync(join(real, dirname(file)), specifier);
      if (path === undefined) return { kind: "missing", path: specifier };
      const below = relative(real, path);
      const isInstalled = `/${below}`.includes("/node_modules/");
      return { kind: isInstalled ? kindOfPackage(file, specifier) : "file", path: below };
    },
  };
}

function parseManifest(text: string): Manifest {
  const manifest: unknown = JSON.parse(text);
  const names = (...keys: readonly string[]): ReadonlySet<string> =>
    new Set(keys.flatMap((key) => Object.keys((manifest as Readonly<Record<string, object | undefined>>)[key] ?? {})));
  return {
    needed: names("dependencies", "optionalDependencies", "peerDependencies"),
    development: names("devDependencies"),
  };
}
