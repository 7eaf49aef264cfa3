import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { listMissingOptionals, readLockFile } from "./checks/lock-file.ts";
import { REPOSITORY } from "./checks/run-tool.ts";

const SYSTEMS = ["android", "darwin", "freebsd", "linux", "openharmony", "win32"];
const PROCESSORS = ["arm", "arm64", "ia32", "ppc64", "riscv64", "s390x", "wasm32", "x64"];
const LIBRARIES = new Map([
  ["gnu", "glibc"],
  ["musl", "musl"],
]);

/**
 * Adds an entry for every build for another platform that npm could not find, so that `npm ci` accepts the lock file.
 */
const lock = readLockFile(REPOSITORY);
const missing = listMissingOptionals(lock);
for (const [path, version] of missing) lock.packages[path] = { version, optional: true, ...platformOf(path) };
lock.packages = Object.fromEntries(
  Object.entries(lock.packages).toSorted(([left], [right]) => (left < right ? -1 : 1)),
);
writeFileSync(join(REPOSITORY, "package-lock.json"), `${JSON.stringify(lock, null, 2)}\n`);
console.log(`package-lock.json: added ${missing.size} packages`);

/** Builds are named after their platform. */
function platformOf(path: string): { os?: string[]; cpu?: string[]; libc?: string[] } {
  const words = path.split(/[/-]/);
  const os = words.filter((word) => SYSTEMS.includes(word));
  const cpu = words.filter((word) => PROCESSORS.includes(word));
  const libc = words.flatMap((word) => LIBRARIES.get(word) ?? []);
  return {
    ...(cpu.length > 0 && { cpu }),
    ...(libc.length > 0 && { libc }),
    ...(os.length > 0 && { os }),
  };
}
