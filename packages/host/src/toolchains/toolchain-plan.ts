import type { SandboxMount } from "../sandbox/sandbox-plan.ts";
import { containsPath } from "./path-containment.ts";
import type { Toolchain } from "./toolchain.ts";

const SYSTEM_PATH = ["/usr/local/bin", "/usr/bin", "/bin"];

/** Creates read-only mounts of usable toolchains. Paths inside another mount are not mounted again. */
export function toolchainMounts(toolchains: readonly Toolchain[]): SandboxMount[] {
  const mounts = usable(toolchains).flatMap((toolchain) => toolchain.mounts);
  const unique = new Map(mounts.map((mount) => [mount.target, mount]));
  const targets = [...unique.keys()];
  return [...unique.values()]
    .filter(({ target }) => !targets.some((other) => other !== target && containsPath(other, target)))
    .map(({ source, target }) => ({ source, target, access: "read" }));
}

/** Creates the PATH inside: the user's order, with the system's programs in the same position as on the host. */
export function toolchainPath(toolchains: readonly Toolchain[]): string {
  const directories = (place: Toolchain["place"]): string[] =>
    usable(toolchains)
      .filter((toolchain) => toolchain.place === place)
      .flatMap((toolchain) => toolchain.directories);
  return [...new Set([...directories("first"), ...SYSTEM_PATH, ...directories("last")])].join(":");
}

/** Variables that programs of these prefixes need. */
export function toolchainEnvironment(toolchains: readonly Toolchain[]): Record<string, string> {
  return Object.assign({}, ...usable(toolchains).map((toolchain) => toolchain.environment)) as Record<string, string>;
}

function usable(toolchains: readonly Toolchain[]): Toolchain[] {
  return toolchains.filter((toolchain) => toolchain.unusable === undefined);
}
