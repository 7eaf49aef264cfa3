import { KernelError } from "@narthex/contracts";
import type { AddressClass } from "@narthex/kernel";

/** Why a request was blocked: the first word of the error message, and of the ledger entry. */
export type BlockReason =
  | "host"
  | "scheme"
  | "credentials"
  | "redirect"
  | "tunnel"
  | "server_name"
  | "secret"
  | "header"
  | AddressClass;

export class EgressBlockedError extends KernelError {
  readonly reason: BlockReason;

  constructor(reason: BlockReason, message: string) {
    super("NETWORK_BLOCKED", `${reason}: ${message}`);
    this.reason = reason;
  }

  /** Class of the blocked address; undefined if the request was blocked before an address was known. */
  get addressClass(): AddressClass | undefined {
    return isAddressClass(this.reason) ? this.reason : undefined;
  }
}

const CLASSES: ReadonlySet<string> = new Set<AddressClass>([
  "private",
  "loopback",
  "link_local",
  "metadata",
  "own",
  "multicast",
  "unspecified",
  "reserved",
  "public",
]);

function isAddressClass(reason: string): reason is AddressClass {
  return CLASSES.has(reason);
}

export function egressBlocked(reason: BlockReason, message: string): EgressBlockedError {
  return new EgressBlockedError(reason, message);
}
