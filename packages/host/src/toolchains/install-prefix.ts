import { access, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import type { ToolchainKind } from "./toolchain.ts";

/** The directory that must be there as a whole for the programs of a directory to run. */
export interface InstallPrefix {
  readonly kind: ToolchainKind;
  readonly prefix: string;
  /** Found by how it is laid out, and not only because nothing larger was. */
  readonly isKnown: boolean;
  /** Directories beside the prefix that its programs need. */
  readonly also: readonly string[];
  readonly environment: Readonly<Record<string, string>>;
}

/** Layouts that are told by their path alone. The first group is the prefix. */
const LAYOUTS: ReadonlyArray<readonly [pattern: RegExp, kind: ToolchainKind, variables: readonly string[]]> = [
  [/^(\/nix\/store)(?:\/|$)/, "nix", []],
  [/^(.*\/\.?nvm\/versions\/node\/[^/]+)(?:\/|$)/, "nvm", []],
  [/^(.*\/node-versions\/[^/]+\/installation)(?:\/|$)/, "fnm", []],
  [/^(.*\/\.volta)(?:\/|$)/, "volta", ["VOLTA_HOME"]],
  [/^(.*\/\.pyenv)(?:\/|$)/, "pyenv", ["PYENV_ROOT"]],
  [/^(.*\/\.asdf)(?:\/|$)/, "asdf", ["ASDF_DIR", "ASDF_DATA_DIR"]],
  [/^(.*\/\.sdkman\/candidates\/java\/[^/]+)(?:\/|$)/, "sdkman", ["JAVA_HOME"]],
  [/^(.*\/\.sdkman\/candidates\/[^/]+\/[^/]+)(?:\/|$)/, "sdkman", []],
  [/^(.*\/\.rustup\/toolchains\/[^/]+)(?:\/|$)/, "rustup", []],
  [/^(.*\/go\/bin)$/, "go", []],
  [/^(\/opt\/[^/]+)(?:\/|$)/, "other", []],
];

/** `directory` holds programs, and is a path without links. */
export async function findInstallPrefix(directory: string): Promise<InstallPrefix> {
  const cargo = await findCargo(directory);
  if (cargo !== undefined) return cargo;
  const conda = await findAbove(directory, "conda-meta");
  if (conda !== undefined) return known("conda", conda);
  const parent = dirname(directory);
  if (await isGo(parent)) return known("go", parent);
  for (const [pattern, kind, variables] of LAYOUTS) {
    const prefix = pattern.exec(directory)?.[1];
    if (prefix === undefined) continue;
    const environment = Object.fromEntries(variables.map((name) => [name, prefix]));
    return { ...known(kind === "other" ? await guessKind(prefix) : kind, prefix), environment };
  }
  if (await isInstalled(directory)) return known(await guessKind(parent), parent);
  return { ...known(await guessKind(directory), directory), isKnown: false };
}

function known(kind: ToolchainKind, prefix: string): InstallPrefix {
  return { kind, prefix, isKnown: true, also: [], environment: {} };
}

/**
 * SECURITY: only the programs of Cargo's directory, never the whole: tokens for registries lie beside them. Rustup's own
 * directory holds the compilers that those programs start.
 */
async function findCargo(directory: string): Promise<InstallPrefix | undefined> {
  if (!directory.endsWith("/.cargo/bin")) return undefined;
  const rustup = join(dirname(dirname(directory)), ".rustup");
  if (!(await exists(join(rustup, "toolchains")))) return known("cargo", directory);
  return { ...known("rustup", directory), also: [rustup], environment: { RUSTUP_HOME: rustup } };
}

/** Programs with their libraries beside them. A directory under version control is somebody's work, not a prefix. */
async function isInstalled(directory: string): Promise<boolean> {
  const parent = dirname(directory);
  if (!["bin", "sbin", "shims", "Scripts"].includes(basename(directory))) return false;
  // `~/.local` is laid out like a prefix and holds keys and tokens.
  if (parent === "/" || basename(parent) === ".local" || (await exists(join(parent, ".git")))) return false;
  const beside = ["lib", "lib64", "libexec", "include", "pyvenv.cfg"];
  const found = await Promise.all(beside.map((name) => exists(join(parent, name))));
  return found.includes(true);
}

async function guessKind(prefix: string): Promise<ToolchainKind> {
  const programs: ReadonlyArray<readonly [ToolchainKind, readonly string[]]> = [
    ["node", ["bin/node", "node"]],
    ["java", ["bin/javac", "bin/java"]],
    ["python", ["bin/python3", "bin/python", "python3", "python"]],
    ["go", ["bin/go", "go/bin/go"]],
  ];
  for (const [kind, names] of programs) {
    for (const name of names) if (await exists(join(prefix, name))) return kind;
  }
  return "other";
}

async function findAbove(directory: string, name: string): Promise<string | undefined> {
  for (let at = directory; dirname(at) !== at; at = dirname(at)) if (await exists(join(at, name))) return at;
  return undefined;
}

async function isGo(directory: string): Promise<boolean> {
  const version = await readFile(join(directory, "VERSION"), "latin1").catch(() => "");
  return /^go\d/.test(version) && (await exists(join(directory, "bin", "go")));
}

async function exists(path: string): Promise<boolean> {
  return await access(path).then(
    () => true,
    () => false,
  );
}
