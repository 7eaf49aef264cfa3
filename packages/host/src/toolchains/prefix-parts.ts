import { readdir, realpath } from "node:fs/promises";
import { join } from "node:path";
import { containsPath } from "./path-containment.ts";

/** A file or directory of a prefix that is mounted inside. */
export interface PrefixPart {
  /** Real path. */
  readonly source: string;
  /** Absolute path in the prefix, before resolving links. */
  readonly path: string;
}

/** For a directory of programs that needs nothing else, or a single file. */
export const WHOLE: readonly string[] = ["."];

const PROGRAMS = ["bin", "sbin", "shims", "Scripts"];
const LIBRARIES = ["lib", "lib32", "lib64", "libexec", "include", "share", "pyvenv.cfg"];

/**
 * Usual names of programs and their libraries.
 *
 * SECURITY: a prefix may be a user's project or contain a service's keys; whatever is not listed here stays outside.
 * `etc` is never listed: it contains a registry's tokens (`etc/npmrc`).
 */
export const PARTS: readonly string[] = [...PROGRAMS, ...LIBRARIES, "boot"];
export const GO_PARTS: readonly string[] = [...PARTS, "src", "pkg", "misc", "go.env", "VERSION"];
export const JAVA_PARTS: readonly string[] = [...PARTS, "conf", "jmods", "jre", "legal", "release"];
export const CONDA_PARTS: readonly string[] = [
  ...PARTS,
  "condabin",
  "conda-meta",
  "compiler_compat",
  "ssl",
  "x86_64-conda-linux-gnu",
  "aarch64-conda-linux-gnu",
];
export const HOMEBREW_PARTS: readonly string[] = [...PARTS, "Cellar", "opt", "etc/ca-certificates"];
export const PYENV_PARTS: readonly string[] = [
  ...PROGRAMS,
  "libexec",
  "pyenv.d",
  "version",
  ...below("versions/*", PARTS),
];
export const RUSTUP_PARTS: readonly string[] = ["settings.toml", ...below("toolchains/*", PARTS)];
export const VOLTA_PARTS: readonly string[] = ["bin", "tools/image", "tools/user", "hooks.json", "layout.v4"];
export const ASDF_PARTS: readonly string[] = [
  ...PARTS,
  "asdf.sh",
  "defaults",
  "help.txt",
  ...below("plugins/*", PARTS),
  ...below("installs/*/*", [...new Set([...GO_PARTS, ...JAVA_PARTS]), "go", "packages/bin"]),
];

/**
 * Finds the existing parts of a prefix. A `*` matches every name in a directory.
 *
 * SECURITY: a link is followed only within the prefix and into `/usr`: elsewhere it would show a directory that is not
 * part of the prefix.
 */
export async function findParts(prefix: string, patterns: readonly string[]): Promise<PrefixPart[]> {
  const found: PrefixPart[] = [];
  const named = new Map<string, Promise<string[]>>();
  for (const pattern of patterns) {
    for (const path of await expand(prefix, pattern.split("/"), named)) {
      const source = await realpath(path).catch(() => undefined);
      if (source === undefined || !(containsPath(prefix, source) || containsPath("/usr", source))) continue;
      found.push({ source, path });
    }
  }
  return found;
}

async function expand(
  directory: string,
  [first, ...rest]: readonly string[],
  named: Map<string, Promise<string[]>>,
): Promise<string[]> {
  if (first === undefined) return [directory];
  if (first !== "*") return await expand(join(directory, first), rest, named);
  const names = named.get(directory) ?? readdir(directory).catch(() => []);
  named.set(directory, names);
  const expanded = (await names).map((name) => expand(join(directory, name), rest, named));
  return (await Promise.all(expanded)).flat();
}

function below(directory: string, parts: readonly string[]): string[] {
  return parts.map((part) => `${directory}/${part}`);
}
