import { realpathSync } from "node:fs";
import { isAbsolute, join } from "node:path";
import { PACKAGE_DIRECTORY } from "../package-directory.ts";
import { dataOption, quoteShellWords } from "./program-line.ts";

const NAME = "narthex";
/** Set for a kernel whose client finds the program by its name. */
export const ON_PATH_VARIABLE = "NARTHEX_ON_PATH";
const PROGRAM = join(PACKAGE_DIRECTORY, "bin/narthex.js");

/**
 * Formats what a user types to run this very program: its name if a shell finds it by that, else its absolute path. The
 * program runs on any Node on the PATH: an old one starts a newer one.
 *
 * SECURITY: never `npx narthex`. In a directory that an agent can write, npx runs the agent's program: from
 * `node_modules/.bin`, or from the `bin` of its package.json. A name that only npm put on the PATH is not available in
 * another terminal.
 *
 * With `home`, the command names that home if another terminal would not use it by default.
 */
export function formatNarthexCommand(environment: NodeJS.ProcessEnv, home?: string): string {
  const program = isNarthexOnPath(environment) ? NAME : quoteShellWords([PROGRAM]);
  return [program, ...(home === undefined ? [] : dataOption(home).map((word) => quoteShellWords([word])))].join(" ");
}

/**
 * Whether a shell finds this very program by its name. A kernel started by a client is told by a variable, because its
 * own PATH differs.
 */
export function isNarthexOnPath(environment: NodeJS.ProcessEnv): boolean {
  if (environment[ON_PATH_VARIABLE] === "1") return true;
  return environment["npm_lifecycle_event"] === undefined && isOnPath(environment["PATH"] ?? "");
}

function isOnPath(path: string): boolean {
  for (const directory of path.split(":").filter(isAbsolute)) {
    const found = realPath(join(directory, NAME));
    if (found !== undefined) return found === realPath(PROGRAM);
  }
  return false;
}

function realPath(path: string): string | undefined {
  try {
    return realpathSync(path);
  } catch {
    return undefined;
  }
}
