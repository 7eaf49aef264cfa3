import { KernelError } from "@narthex/contracts";
import { hostOf } from "./git-hosts.ts";
import { type AddressBase, repositoryAddress } from "./repository-address.ts";

/** Throws for a repository that no program in the sandbox can reach. */
export function refuseUnreachable(address: string, base: AddressBase, hasNetwork: boolean): void {
  const { kind } = repositoryAddress(address, base);
  if (kind === "remote" && !(hasNetwork && hostOf(address) !== undefined))
    throw networkBlocked(/^\w+(?=:\/\/)/.exec(address)?.[0] ?? "ssh");
  if (kind === "outside") {
    throw new KernelError("PATH_ESCAPE", `\`${address.slice(0, 200)}\` lies outside the workspace`);
  }
}

/**
 * The error for an unreachable transport. Nothing was tried, and a retry does not count as an attempt to leave the
 * sandbox.
 */
export function networkBlocked(transport: string): KernelError {
  const message = `there is no way to a repository by ${transport} from here: name its host in \`hosts\`, if it has one that speaks https`;
  return new KernelError("NETWORK_BLOCKED", message, { violations: [{ field: "$.args", rule: "one_of", message }] });
}
