import { createRequire } from "node:module";
import { join } from "node:path";
import { KernelError } from "@narthex/contracts";
import type * as TsMorph from "ts-morph";

/** The library that reads TypeScript. It is large, so it is there only where somebody installed it. */
export type Compiler = typeof TsMorph;

const PACKAGE = "ts-morph";

/**
 * Takes it from where this file is, or from the first of these directories that has it installed. Undefined where it is
 * not installed.
 *
 * SECURITY: what is taken is run. What is installed beside this file was chosen by whoever installed that; a directory
 * may be anybody's work.
 */
export function loadCompiler(directories: readonly string[], own = import.meta.url): Compiler | undefined {
  const places = [own, ...directories.map((directory) => join(directory, "package.json"))];
  for (const place of places) {
    const require = createRequire(place);
    const path = findPackage(require);
    if (path !== undefined) return checkCompiler(require(path), path);
  }
  return undefined;
}

function findPackage(require: NodeJS.Require): string | undefined {
  try {
    return require.resolve(PACKAGE);
  } catch (fault) {
    if (fault instanceof Error && "code" in fault && fault.code === "MODULE_NOT_FOUND") return undefined;
    throw fault;
  }
}

function checkCompiler(loaded: unknown, path: string): Compiler {
  if (typeof loaded === "object" && loaded !== null && "Project" in loaded && "ts" in loaded) return loaded as Compiler;
  throw new KernelError("CONFIG_INVALID", `\`${path}\` is not ${PACKAGE} as it is known here: install it anew`);
}
