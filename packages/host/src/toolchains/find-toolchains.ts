import { opendir, realpath, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, relative, resolve } from "node:path";
import type { SandboxIdentity } from "../sandbox/sandbox-plan.ts";
import { findInstallPrefix, type InstallPrefix } from "./install-prefix.ts";
import { containsPath } from "./path-containment.ts";
import { readVersion } from "./read-version.ts";
import { findParts, type PrefixPart, WHOLE } from "./prefix-parts.ts";
import { findHomes, type PrefixRestrictions, findPlacementProblem } from "./prefix-restrictions.ts";
import { findSensitiveContent } from "./find-sensitive-content.ts";
import type { Toolchain, ToolchainKind, ToolchainMount } from "./toolchain.ts";
import { findReadProblem } from "./path-access.ts";

export interface ToolchainOptions {
  /** The user's PATH. */
  readonly path: string;
  readonly userHome: string;
  readonly kernelHome: string;
  /** Known once there is a session. */
  readonly workspace?: string;
  /** User that programs inside run as. */
  readonly identity: SandboxIdentity;
  /** Node for the kernel's own programs; by default the one that runs this process. */
  readonly node?: string;
  /** Maximum number of files and directories of one toolchain that are searched for secrets. */
  readonly maxScanned?: number;
}

const MAX_DIRECTORIES = 64;
const MAX_LINKS = 1000;
const MAX_PARTS = 256;
const MAX_SCANNED = 50_000;
const ANY_EXECUTE = 0o111;
const SYSTEM_DIRECTORIES = ["/usr", "/bin", "/sbin"];

/**
 * Finds the toolchains on the user's PATH outside `/usr`, and the pinned Node. Includes those that cannot be mounted,
 * with the reason.
 *
 * SECURITY: no program is run, and nothing below the workspace is read: an agent can create links there.
 */
export async function findToolchains(options: ToolchainOptions): Promise<Toolchain[]> {
  const around = await findSurroundings(options);
  const found = new Map<string, Finding>();
  let place: Toolchain["place"] = "first";
  for (const written of splitPath(options.path)) {
    const directory = await realDirectory(written);
    if (directory === undefined) continue;
    if (isOfSystem(directory)) {
      place = "last";
      continue;
    }
    const install = withinBounds(await findInstallPrefix(directory), directory, around);
    add(found, { install, directory, place, alias: aliasOf(written, directory, install.prefix) });
    if (isOfProject(install.prefix) || findPlacementProblem(install.prefix, around) !== undefined) continue;
    for (const linked of await followLinks(directory, install)) add(found, { install: linked, place });
  }
  const node = await realpath(options.node ?? process.execPath);
  if (!isOfSystem(node)) {
    add(found, { install: await findFilePrefix(node), directory: dirname(node), place: "last" });
  }
  return await Promise.all([...found.values()].map((finding) => judge(finding, around, options)));
}

interface Finding {
  readonly install: InstallPrefix;
  readonly place: Toolchain["place"];
  readonly directories: readonly string[];
  readonly aliases: readonly string[];
}

interface Addition {
  readonly install: InstallPrefix;
  readonly place: Toolchain["place"];
  readonly directory?: string;
  readonly alias?: string | undefined;
}

function add(found: Map<string, Finding>, { install, place, directory, alias }: Addition): void {
  const { prefix } = install;
  const before = found.get(prefix) ?? { install, place, directories: [], aliases: [] };
  const join = (known: readonly string[], more: string | undefined): readonly string[] =>
    more === undefined || known.includes(more) ? known : [...known, more];
  found.set(prefix, {
    install: before.install,
    place: before.directories.length === 0 ? place : before.place,
    directories: join(before.directories, directory),
    aliases: join(before.aliases, alias),
  });
}

async function judge(
  { install, place, directories, aliases }: Finding,
  around: PrefixRestrictions,
  options: ToolchainOptions,
): Promise<Toolchain> {
  const { kind, prefix, companion, environment } = install;
  const parts = await allParts(install, directories);
  const unusable = isOfProject(prefix)
    ? "it belongs to a project"
    : (findPlacementProblem(prefix, around) ?? (await refuseParts(parts, kind, around, options)));
  const mounts: ToolchainMount[] = parts.map(({ source, path }) => ({ source, target: path }));
  for (const alias of aliases) {
    // A link in `/usr` already exists inside.
    if (isOfSystem(alias) || findPlacementProblem(alias, around) !== undefined) continue;
    for (const { source, path } of parts) {
      if (containsPath(prefix, path)) mounts.push({ source, target: join(alias, relative(prefix, path)) });
    }
  }
  const version = (await readVersion(prefix)) ?? (companion && (await readVersion(companion.prefix)));
  return { kind, prefix, version, unusable, directories, place, mounts, environment };
}

/** Returns the parts of an installation, and PATH directories elsewhere in it. */
async function allParts(
  { prefix, parts, companion }: InstallPrefix,
  directories: readonly string[],
): Promise<PrefixPart[]> {
  const own = await findParts(prefix, parts);
  const other = directories.filter((directory) => !own.some(({ path }) => containsPath(path, directory)));
  return [
    ...own,
    ...other.map((directory) => ({ source: directory, path: directory })),
    ...(companion === undefined ? [] : await findParts(companion.prefix, companion.parts)),
  ];
}

async function refuseParts(
  parts: readonly PrefixPart[],
  kind: ToolchainKind,
  around: PrefixRestrictions,
  { identity, maxScanned = MAX_SCANNED }: ToolchainOptions,
): Promise<string | undefined> {
  if (parts.length > MAX_PARTS) return `it has more than ${MAX_PARTS} directories of programs and libraries`;
  const budget = { left: maxScanned };
  for (const { source } of parts) {
    if (isOfSystem(source)) continue;
    const refused = findPlacementProblem(source, around) ?? (await findReadProblem(source, identity));
    if (refused !== undefined) return refused;
    // The Nix store is readable for every user of the host, and too large to search.
    const held = kind === "nix" ? undefined : await findSensitiveContent(source, budget);
    if (held !== undefined) return held;
  }
  return undefined;
}

/**
 * Returns only the directory of programs if its prefix may not be shown: for example `~/bin` of a home that has a
 * `lib`.
 */
function withinBounds(install: InstallPrefix, directory: string, around: PrefixRestrictions): InstallPrefix {
  if (
    findPlacementProblem(install.prefix, around) === undefined ||
    findPlacementProblem(directory, around) !== undefined
  )
    return install;
  return { kind: install.kind, prefix: directory, parts: WHOLE, isKnown: false, environment: {} };
}

/**
 * Follows links in the directory to programs elsewhere: returns their prefix if its layout is known, otherwise the
 * single file.
 */
async function followLinks(directory: string, install: InstallPrefix): Promise<InstallPrefix[]> {
  const found: InstallPrefix[] = [];
  const shown = await allParts(install, [directory]);
  let left = MAX_LINKS;
  const opened = await opendir(directory).catch(() => undefined);
  if (opened === undefined) return found;
  for await (const entry of opened) {
    if (left-- <= 0) break;
    if (!entry.isSymbolicLink()) continue;
    const target = await realpath(join(directory, entry.name)).catch(() => undefined);
    if (target === undefined || isOfSystem(target)) continue;
    if (shown.some(({ source }) => containsPath(source, target))) continue;
    const facts = await stat(target);
    if (!facts.isFile() || (facts.mode & ANY_EXECUTE) === 0) continue;
    const linked = await findFilePrefix(target);
    found.push(linked);
    shown.push(...(await allParts(linked, [])));
  }
  return found;
}

/** SECURITY: a link shows that one program is wanted, not the files that happen to be next to it. */
async function findFilePrefix(file: string): Promise<InstallPrefix> {
  const install = await findInstallPrefix(dirname(file));
  const parts = install.isKnown ? await allParts(install, []) : [];
  if (parts.some(({ source }) => containsPath(source, file))) return install;
  return { kind: "file", prefix: file, parts: WHOLE, isKnown: false, environment: {} };
}

async function findSurroundings(options: ToolchainOptions): Promise<PrefixRestrictions> {
  const real = async (path: string): Promise<string> => await realpath(path).catch(() => resolve(path));
  return {
    kernelHome: await real(options.kernelHome),
    workspace: options.workspace === undefined ? undefined : await real(options.workspace),
    homes: await Promise.all((await findHomes(options.userHome)).map(real)),
  };
}

/** Returns unique absolute directories. Relative ones are dropped, because they depend on the working directory. */
function splitPath(path: string): string[] {
  const directories = path
    .split(":")
    .filter(isAbsolute)
    .map((directory) => resolve(directory));
  return [...new Set(directories)].slice(0, MAX_DIRECTORIES);
}

async function realDirectory(path: string): Promise<string | undefined> {
  const real = await realpath(path).catch(() => undefined);
  return real !== undefined && (await stat(real)).isDirectory() ? real : undefined;
}

function isOfSystem(path: string): boolean {
  return SYSTEM_DIRECTORIES.some((directory) => containsPath(directory, path));
}

/** `npm run` adds a project's own programs to the PATH. */
function isOfProject(prefix: string): boolean {
  return prefix.endsWith("/node_modules/.bin");
}

/** Returns the path by which the user names a prefix through a link: scripts may contain that name. */
function aliasOf(written: string, real: string, prefix: string): string | undefined {
  const rest = real.slice(prefix.length);
  if (written === real || !containsPath(prefix, real) || !written.endsWith(rest)) return undefined;
  const alias = written.slice(0, written.length - rest.length);
  return alias === prefix || alias === "" ? undefined : alias;
}
