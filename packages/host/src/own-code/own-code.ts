import { realpath, stat } from "node:fs/promises";
import { dirname, isAbsolute, join, resolve } from "node:path";
import { containsPath } from "../toolchains/path-containment.ts";
import { findPackageCode, type PackageCode } from "./find-package-code.ts";

export interface OwnCodeOptions {
  /** Directory of the running package. */
  readonly directory: string;
  /** The Node executable that runs it. */
  readonly node: string;
  /** The PATH of the user. */
  readonly path: string;
}

/** The code of this kernel, and of every other kernel that the user would start from a workspace. */
export interface OwnCode {
  /**
   * Returns code of this kernel that overlaps a workspace; undefined if there is no overlap. `workspace` is a real
   * path.
   */
  overlapping(workspace: string): Promise<string | undefined>;
  /**
   * Returns real paths in a workspace that no program may change: this kernel's code, and that of a kernel installed
   * there.
   */
  inside(workspace: string): Promise<readonly string[]>;
}

const NAME = "narthex";

/** Searches at the first use and caches the result for the running code, which does not change. */
export function findOwnCode({ directory, node, path }: OwnCodeOptions): OwnCode {
  let running: Promise<PackageCode> | undefined;
  const runningCode = (): Promise<PackageCode> => (running ??= findPackageCode(directory));
  return {
    async overlapping(workspace) {
      const { directories } = await runningCode();
      const code = [...directories, await realpath(node).catch(() => node)];
      return code.find((path) => containsPath(workspace, path) || containsPath(path, workspace));
    },
    async inside(workspace) {
      const own = await runningCode();
      const program = await realpath(node).catch(() => node);
      const paths = [program, ...own.directories, ...own.vacant, ...(await installedCode(workspace, path))];
      return [...new Set(paths)].filter((code) => code !== workspace && containsPath(workspace, code));
    },
  };
}

/**
 * Returns the files that `npx narthex` or `narthex` would run in a workspace, in addition to the names that are
 * protected everywhere.
 *
 * SECURITY: in a directory on the PATH, `narthex` and `node` are included even if they do not exist: a program created
 * there would be found before the intended one, and so would the Node in its first line (`#!/usr/bin/env node`).
 */
async function installedCode(workspace: string, path: string): Promise<string[]> {
  const installed = join(workspace, "node_modules");
  const packages = [join(installed, NAME)];
  const found: string[] = [];
  for (const directory of await programDirectories(workspace, path)) {
    const link = join(directory, NAME);
    found.push(link, join(directory, "node"));
    const program = await realpath(link).catch(() => undefined);
    if (program === undefined || !containsPath(workspace, program)) continue;
    found.push(program);
    const owner = await packageOf(program, workspace);
    if (owner !== undefined) packages.push(owner);
  }
  for (const directory of packages) {
    if (!(await isThere(directory))) continue;
    const { directories, vacant } = await findPackageCode(directory);
    found.push(...directories, ...vacant);
  }
  return found;
}

/** Directories of the workspace in which a shell, or npm if narthex is installed there, looks for programs. */
async function programDirectories(workspace: string, path: string): Promise<string[]> {
  const found = (await isThere(join(workspace, "node_modules", NAME))) ? [join(workspace, "node_modules/.bin")] : [];
  for (const directory of path.split(":").filter(isAbsolute)) {
    // A missing directory could still be created.
    const real = await realpath(directory).catch(() => resolve(directory));
    if (containsPath(workspace, real)) found.push(real);
  }
  return found;
}

/**
 * Returns the nearest parent directory with a `package.json`. Excludes the workspace itself, which is the user's
 * project, whatever its name.
 */
async function packageOf(program: string, workspace: string): Promise<string | undefined> {
  for (let at = dirname(program); at !== workspace && containsPath(workspace, at); at = dirname(at)) {
    if (await isThere(join(at, "package.json"))) return at;
  }
  return undefined;
}

async function isThere(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  );
}
