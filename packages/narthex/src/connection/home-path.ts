import { homedir } from "node:os";
import { join, resolve } from "node:path";

/** Returns the kernel's home: `--data`, else NARTHEX_DATA, else `~/.narthex`. */
export function homePath(data: string | undefined, environment: NodeJS.ProcessEnv): string {
  const named = data ?? environment["NARTHEX_DATA"] ?? "";
  return named === "" ? join(homedir(), ".narthex") : resolve(named);
}
