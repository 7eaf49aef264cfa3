import type { Holder } from "@narthex/host/holder";
import { VERSION } from "../version.ts";
import { WIRE_PROTOCOL } from "../wire-protocol.ts";

/** `attach` uses the kernel, `replace` starts a newer one in its place, `refuse` can do neither. */
export type AttachDecision = "attach" | "replace" | "refuse";

export interface OwnVersion {
  readonly version: string;
  readonly protocol: number;
}

const OWN: OwnVersion = { version: VERSION, protocol: WIRE_PROTOCOL };

/**
 * Decides how a client treats the kernel that holds a home. Only a kernel that was started on demand is replaced, and
 * only by a higher version, so that two versions in use at the same time do not keep replacing each other.
 */
export function decideAttach({ version, protocol, onDemand }: Holder, own: OwnVersion = OWN): AttachDecision {
  if (onDemand && compareVersions(own.version, version) > 0) return "replace";
  return protocol === own.protocol ? "attach" : "refuse";
}

/**
 * Returns a positive number if the first version is higher. Numbers are compared as numbers; a pre-release is lower
 * than its release.
 */
export function compareVersions(first: string, second: string): number {
  const [a, b] = [parseVersion(first), parseVersion(second)];
  for (let i = 0; i < Math.max(a.numbers.length, b.numbers.length); i++) {
    const difference = (a.numbers[i] ?? 0) - (b.numbers[i] ?? 0);
    if (difference !== 0) return difference;
  }
  if (a.preRelease === b.preRelease) return 0;
  if (a.preRelease === "" || b.preRelease === "") return a.preRelease === "" ? 1 : -1;
  return a.preRelease < b.preRelease ? -1 : 1;
}

function parseVersion(text: string): { readonly numbers: readonly number[]; readonly preRelease: string } {
  const [, release = "", preRelease = ""] = /^([0-9.]*)(?:-([0-9A-Za-z.-]+))?/.exec(text) ?? [];
  return { numbers: release.split(".").map(Number), preRelease };
}
