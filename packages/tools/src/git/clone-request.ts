import { posix } from "node:path";
import { KernelError } from "@narthex/contracts";
import type { GitArguments } from "./git-arguments.ts";

/** What a clone is made of. */
export interface CloneRequest {
  readonly source: string;
  /** The new directory, relative to where the clone is made. */
  readonly target: string;
  /** With the target, even if the caller left it to git. */
  readonly argv: readonly string[];
}

/** The target has to be known before git starts: it is guarded from the moment it is there. */
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

/** As git does it: the last part of the address, without what only says that it is a repository. */
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
