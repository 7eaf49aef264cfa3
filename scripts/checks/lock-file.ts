import { readFileSync } from "node:fs";
import { join } from "node:path";
import { type CheckResult, judge } from "./check.ts";
import { REPOSITORY } from "./run-tool.ts";

/** The parts of a package-lock.json that are used here; the rest is kept unchanged. */
export interface LockFile {
  packages: Record<string, LockedPackage>;
}

interface LockedPackage {
  readonly version?: string;
  readonly resolved?: string;
  readonly optional?: boolean;
  readonly optionalDependencies?: Readonly<Record<string, string>>;
}

const ADDRESS = /^(?:https?|git\+[a-z]+):/;

/**
 * Checks that the lock file names no host, so that any registry can serve it, and is complete, so that `npm ci` accepts
 * it.
 */
export function checkLockFile(root = REPOSITORY): CheckResult {
  const lock = readLockFile(root);
  const packages = Object.entries(lock.packages);
  const problems = packages
    .filter(([, { resolved }]) => resolved !== undefined && ADDRESS.test(resolved))
    .map(([path]) => `package-lock.json: ${path} has a download address: is .npmrc in force?`);
  const missing = [...listMissingOptionals(lock).keys()];
  if (missing.length > 0)
    problems.push(`package-lock.json: run scripts/complete-lock.ts; missing: ${missing.join(", ")}`);
  return judge(problems, `${packages.length} packages`);
}

export function readLockFile(root: string): LockFile {
  return JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8")) as LockFile;
}

/**
 * Optional packages, by path, that others require in one exact version and that are missing from the lock file. npm
 * leaves out packages that its registry does not have, and later refuses such a lock file.
 */
export function listMissingOptionals({ packages }: LockFile): Map<string, string> {
  const wanted = Object.values(packages).flatMap(({ optionalDependencies }) =>
    Object.entries(optionalDependencies ?? {}),
  );
  return new Map(
    wanted
      .map(([name, version]) => [`node_modules/${name}`, version] as const)
      .filter(([path, version]) => packages[path] === undefined && /^\d+\.\d+\.\d+/.test(version)),
  );
}
