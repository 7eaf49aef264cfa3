import { createRequire } from "node:module";
import { join } from "node:path";
import { KernelError } from "@narthex/contracts";
import type * as TsMorph from "ts-morph";

/** The library that parses TypeScript. It is large, so it is optional and only used if it is installed. */
export type Compiler = typeof TsMorph;

const PACKAGE = "ts-morph";

/**
 * Loads the library from where this package is installed, or from the first of these directories that has it. Undefined
 * if it is not installed.
 *
 * SECURITY: the loaded code is executed. A library beside this package was chosen by the person who installed the
 * package; the code in a directory may come from an attacker.
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
