import { readFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "../checks/run-tool.ts";

interface Manifest {
  readonly [field: string]: unknown;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
}

/** Fields that the published package has as the checkout does. */
const KEPT = ["name", "version", "description", "license", "type", "engines", "bin", "files", "publishConfig"];

/** The manifest of the published package: what was bundled is no dependency any more. */
export function publishedManifest(
  installed: readonly string[],
  optionalPeers: readonly string[],
  types: string,
): Manifest {
  const manifest = readManifest("narthex");
  const exports = { ".": { types, default: "./dist/index.js" }, "./package.json": "./package.json" };
  return {
    ...Object.fromEntries(KEPT.map((field) => [field, manifest[field]])),
    exports,
    types,
    dependencies: Object.fromEntries(installed.map((name) => [name, versionOf(name)])),
    optionalDependencies: manifest["optionalDependencies"],
    peerDependencies: Object.fromEntries(optionalPeers.map((name) => [name, `^${versionOf(name)}`])),
    peerDependenciesMeta: Object.fromEntries(optionalPeers.map((name) => [name, { optional: true }])),
  };
}

/** As the package that imports it asks for it. */
function versionOf(name: string): string {
  for (const own of ["contracts", "kernel", "host", "server", "tools", "agent", "verify", "narthex"]) {
    const { dependencies, devDependencies } = readManifest(own);
    const version = dependencies?.[name] ?? devDependencies?.[name];
    if (version !== undefined) return version;
  }
  throw new Error(`no package depends on ${name}`);
}

function readManifest(own: string): Manifest {
  return JSON.parse(readFileSync(join(REPOSITORY, "packages", own, "package.json"), "utf8")) as Manifest;
}
