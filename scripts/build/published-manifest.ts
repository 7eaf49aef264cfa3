import { readFileSync } from "node:fs";
import { join } from "node:path";
import { REPOSITORY } from "../checks/run-tool.ts";

interface Manifest {
  readonly [field: string]: unknown;
  readonly dependencies?: Readonly<Record<string, string>>;
  readonly devDependencies?: Readonly<Record<string, string>>;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
  readonly peerDependencies?: Readonly<Record<string, string>>;
}

export interface PublishedManifestOptions {
  /** Packages that are installed as dependencies. */
  readonly installed: readonly string[];
  /** Packages that are used if the user has installed them. */
  readonly optionalPeers: readonly string[];
  /**
   * Paths of the declarations: the library's and those of its test helpers. Absent for an installation of the command
   * alone.
   */
  readonly types?: readonly string[];
  /** Whether the package includes the pinned Node, for a machine whose own is too old. */
  readonly withNode?: boolean;
}

/** Fields that are copied from the package's manifest. */
const KEPT = [
  "name",
  "version",
  "description",
  "keywords",
  "license",
  "type",
  "engines",
  "bin",
  "files",
  "publishConfig",
];

/** Creates the manifest of the published package, in which bundled packages are no longer dependencies. */
export function publishedManifest(options: PublishedManifestOptions): Manifest {
  const { installed, optionalPeers, types: [types, testingTypes] = [], withNode } = options;
  const manifest = readManifest("packages/narthex");
  const program = "./dist/index.js";
  const testing = "./dist/testing.js";
  const exports = {
    ".": types === undefined ? program : { types, default: program },
    "./testing": testingTypes === undefined ? testing : { types: testingTypes, default: testing },
    "./package.json": "./package.json",
  };
  // SECURITY: if Node is too old, it runs a newer one from beside the package. As a dependency or a peer, that place is
  // protected in a workspace.
  const nodes = manifest.peerDependencies ?? {};
  const peers = {
    ...(withNode === true ? {} : nodes),
    ...Object.fromEntries(optionalPeers.map((name) => [name, `^${versionOf(name)}`])),
  };
  return {
    ...Object.fromEntries(KEPT.map((field) => [field, manifest[field]])),
    exports,
    ...(types !== undefined && { types }),
    dependencies: Object.fromEntries(installed.map((name) => [name, versionOf(name)])),
    ...(withNode === true && { optionalDependencies: readManifest(".").optionalDependencies }),
    peerDependencies: peers,
    peerDependenciesMeta: Object.fromEntries(Object.keys(peers).map((name) => [name, { optional: true }])),
  };
}

/** The version range that the importing package declares. */
function versionOf(name: string): string {
  for (const own of ["contracts", "kernel", "host", "server", "tools", "agent", "verify", "narthex"]) {
    const { dependencies, devDependencies } = readManifest(`packages/${own}`);
    const version = dependencies?.[name] ?? devDependencies?.[name];
    if (version !== undefined) return version;
  }
  throw new Error(`no package depends on ${name}`);
}

function readManifest(folder: string): Manifest {
  return JSON.parse(readFileSync(join(REPOSITORY, folder, "package.json"), "utf8")) as Manifest;
}
