import { access, readFile } from "node:fs/promises";
import { basename, dirname, join } from "node:path";
import {
  ASDF_PARTS,
  CONDA_PARTS,
  GO_PARTS,
  HOMEBREW_PARTS,
  JAVA_PARTS,
  PARTS,
  PYENV_PARTS,
  RUSTUP_PARTS,
  VOLTA_PARTS,
  WHOLE,
} from "./prefix-parts.ts";
import type { ToolchainKind } from "./toolchain.ts";

/** Directory in which programs were installed, and the parts of it that they need to run. */
export interface InstallPrefix {
  readonly kind: ToolchainKind;
  readonly prefix: string;
  /** Relative to the prefix: see `findParts`. */
  readonly parts: readonly string[];
  /** Whether the prefix was recognized by its layout; false if it is only the directory of the programs itself. */
  readonly isKnown: boolean;
  /** Another directory with parts that its programs need. */
  readonly companion?: { readonly prefix: string; readonly parts: readonly string[] };
  readonly environment: Readonly<Record<string, string>>;
}

interface Layout {
  /** Its first group is the prefix. */
  readonly pattern: RegExp;
  readonly kind: ToolchainKind;
  readonly parts: readonly string[];
  readonly variables?: readonly string[];
}

/** Layouts that are recognized by their path alone. */
const LAYOUTS: readonly Layout[] = [
  { pattern: /^(\/nix\/store)(?:\/|$)/, kind: "nix", parts: WHOLE },
  { pattern: /^(.*\/\.?nvm\/versions\/node\/[^/]+)(?:\/|$)/, kind: "nvm", parts: PARTS },
  { pattern: /^(.*\/node-versions\/[^/]+\/installation)(?:\/|$)/, kind: "fnm", parts: PARTS },
  { pattern: /^(.*\/\.volta)(?:\/|$)/, kind: "volta", parts: VOLTA_PARTS, variables: ["VOLTA_HOME"] },
  { pattern: /^(.*\/\.pyenv)(?:\/|$)/, kind: "pyenv", parts: PYENV_PARTS, variables: ["PYENV_ROOT"] },
  { pattern: /^(.*\/\.asdf)(?:\/|$)/, kind: "asdf", parts: ASDF_PARTS, variables: ["ASDF_DIR", "ASDF_DATA_DIR"] },
  {
    pattern: /^(.*\/\.sdkman\/candidates\/java\/[^/]+)(?:\/|$)/,
    kind: "sdkman",
    parts: JAVA_PARTS,
    variables: ["JAVA_HOME"],
  },
  { pattern: /^(.*\/\.sdkman\/candidates\/[^/]+\/[^/]+)(?:\/|$)/, kind: "sdkman", parts: PARTS },
  { pattern: /^(.*\/\.rustup\/toolchains\/[^/]+)(?:\/|$)/, kind: "rustup", parts: PARTS },
  { pattern: /^(.*\/go\/bin)$/, kind: "go", parts: WHOLE },
];

/** Finds the prefix of a directory of programs. The path must not contain links. */
export async function findInstallPrefix(directory: string): Promise<InstallPrefix> {
  const cargo = await findCargo(directory);
  if (cargo !== undefined) return cargo;
  const conda = await findAbove(directory, "conda-meta");
  if (conda !== undefined) return known("conda", conda, CONDA_PARTS);
  const parent = dirname(directory);
  if (await isGo(parent)) return known("go", parent, GO_PARTS);
  for (const { pattern, kind, parts, variables = [] } of LAYOUTS) {
    const prefix = pattern.exec(directory)?.[1];
    if (prefix === undefined) continue;
    const environment = Object.fromEntries(variables.map((name) => [name, prefix]));
    return { ...known(kind, prefix, parts), environment };
  }
  if (!(await isInstalled(directory))) {
    return { ...known(await guessKind(directory), directory, WHOLE), isKnown: false };
  }
  const kind = await guessKind(parent);
  if (await exists(join(parent, "Cellar"))) return known(kind, parent, HOMEBREW_PARTS);
  return known(kind, parent, kind === "java" ? JAVA_PARTS : PARTS);
}

function known(kind: ToolchainKind, prefix: string, parts: readonly string[]): InstallPrefix {
  return { kind, prefix, parts, isKnown: true, environment: {} };
}

/**
 * SECURITY: only Cargo's programs, never its whole directory: it contains tokens for registries. Rustup's own directory
 * holds the compilers that these programs start.
 */
async function findCargo(directory: string): Promise<InstallPrefix | undefined> {
  if (!directory.endsWith("/.cargo/bin")) return undefined;
  const rustup = join(dirname(dirname(directory)), ".rustup");
  if (!(await exists(join(rustup, "toolchains")))) return known("cargo", directory, WHOLE);
  const also = { prefix: rustup, parts: RUSTUP_PARTS };
  return { ...known("rustup", directory, WHOLE), companion: also, environment: { RUSTUP_HOME: rustup } };
}

/** Whether libraries are next to the programs. A directory under version control is a project, not a prefix. */
async function isInstalled(directory: string): Promise<boolean> {
  const parent = dirname(directory);
  if (!["bin", "sbin", "shims", "Scripts"].includes(basename(directory))) return false;
  // `~/.local` has the layout of a prefix but holds keys and tokens.
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
