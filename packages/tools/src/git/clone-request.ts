import { posix } from "node:path";
import { KernelError } from "@narthex/contracts";
import type { GitArguments } from "./git-arguments.ts";

/** The parts of a clone request. */
export interface CloneRequest {
  readonly source: string;
  /** The new directory, relative to the working directory of the clone. */
  readonly target: string;
  /** Arguments for git. They include the target even if the caller left it to git. */
  readonly argv: readonly string[];
}

/**
 * Takes a clone request apart. The target must be known before git starts, because it is guarded as soon as it exists.
 */
export function cloneRequest({ argv, operands }: Extract<GitArguments, { argv: unknown }>): CloneRequest {
  const [source, named, ...more] = operands;
  if (source === undefined) throw refused("required", "must name the repository to clone");
  if (more.length > 0) throw refused("max_items", "must be the repository and at most one directory");
  const isBare = argv.includes("--bare") || argv.includes("--mirror");
  const target = posix.normalize(named ?? guessTarget(source, isBare)).replace(/(?<=.)\/$/, "");
  if (target.startsWith("/") || target.split("/").includes("..") || target.startsWith("-")) {
    throw refused("no_traversal", "must name a directory below `cwd` to clone into");
  }
  if (/[\0-\x1f\x7f]/.test(target)) throw refused("format", "must name a directory without control characters");
  return { source, target, argv: named === undefined ? [...argv, target] : argv };
}

/**
 * The target directory that git would choose: the last part of the address, without suffixes that only mark a
 * repository.
 */
function guessTarget(source: string, isBare: boolean): string {
  const path = source.replace(/\/+$/, "").replace(/\/\.git$/, "");
  const name = path.slice(Math.max(path.lastIndexOf("/"), path.lastIndexOf(":")) + 1).replace(/\.(?:git|bundle)$/, "");
  if (name === "" || name === "." || name === "..") throw refused("required", "must name a directory to clone into");
  return isBare ? `${name}.git` : name;
}

function refused(rule: string, message: string): KernelError {
  return new KernelError("INVALID_INPUT", `the arguments of CLONE ${message}`, {
    violations: [{ field: "$.args", rule, message }],
  });
}
