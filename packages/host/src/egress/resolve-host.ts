import { lookup, Resolver } from "node:dns/promises";
import { isIP } from "node:net";
import { KernelError } from "@narthex/contracts";
import type { AddressClass, EgressGrant, EgressTarget } from "@narthex/kernel";
import { addressBytes, classifyAddress, innermostAddress } from "./address-class.ts";
import { egressBlocked } from "./egress-blocked-error.ts";
import { createOwnAddressCheck } from "./own-address-check.ts";
import { withTimeout } from "./with-timeout.ts";

/** An address that was checked. Connections are opened to no other addresses. */
export interface CheckedAddress {
  readonly address: string;
  readonly addressClass: AddressClass;
}

/** Returns all addresses of a name, with a single lookup. */
export type LookUp = (name: string) => Promise<readonly string[]>;

export interface HostResolver {
  /** Throws NETWORK_BLOCKED unless connections to every address of the host are allowed. */
  resolve(target: EgressTarget, pass: Pick<EgressGrant, "isGranted">): Promise<CheckedAddress>;
}

const LOCAL_NAME = /(?:^|\.)localhost$/;
const LOCAL_ADDRESSES = ["127.0.0.1"];

/**
 * Creates a resolver of hosts.
 *
 * SECURITY: a name is resolved once, and the resulting addresses are checked and then used, so a name that changes its
 * addresses gains nothing. One refused address refuses the name, because the caller must not control which address a
 * connection would use.
 */
export function createHostResolver(
  lookUp: LookUp,
  resolveMs: number,
  isOwn: (bytes: Uint8Array) => boolean = createOwnAddressCheck(),
): HostResolver {
  function judge(address: string): CheckedAddress {
    const bytes = addressBytes(address);
    const addressClass = classifyAddress(bytes);
    const isHere = addressClass === "public" && isOwn(innermostAddress(bytes));
    return { address, addressClass: isHere ? "own" : addressClass };
  }

  return {
    async resolve({ host, port, sends }, pass) {
      const addresses = await lookUpAddresses(host, lookUp, resolveMs);
      const judged = addresses.map(judge);
      for (const { address, addressClass } of judged) {
        if (addressClass === "public" || pass.isGranted(address, port, sends)) continue;
        throw egressBlocked(
          addressClass,
          isIP(host) === 0
            ? `\`${host}\` leads to a ${NAMES[addressClass]} address`
            : `\`${host}\` is ${NAMES[addressClass]}`,
        );
      }
      const [first] = judged;
      if (first === undefined) throw new KernelError("UPSTREAM_ERROR", `\`${host}\` has no address`);
      return first;
    },
  };
}

async function lookUpAddresses(host: string, lookUp: LookUp, resolveMs: number): Promise<readonly string[]> {
  if (isIP(host) !== 0) return [host];
  if (LOCAL_NAME.test(host)) return LOCAL_ADDRESSES;
  let found: readonly string[];
  try {
    found = await withTimeout(
      lookUp(host),
      resolveMs,
      () => new KernelError("TIMEOUT", `\`${host}\` was not resolved in time`),
    );
  } catch (fault) {
    if (fault instanceof KernelError) throw fault;
    throw new KernelError("UPSTREAM_ERROR", `\`${host}\` cannot be resolved`, { cause: fault });
  }
  return found.filter((address) => isIP(address) !== 0);
}

const NAMES: Readonly<Record<AddressClass, string>> = {
  public: "public",
  private: "private",
  loopback: "loopback",
  link_local: "link-local",
  metadata: "cloud metadata",
  own: "own",
  multicast: "multicast",
  unspecified: "unspecified",
  reserved: "reserved",
};

/** Resolves names with the system's resolver. */
export const systemLookUp: LookUp = async (name) => {
  const found = await lookup(name, { all: true, order: "ipv4first" });
  return found.map(({ address }) => address);
};

/** Queries only these servers, each given as `address:port`. */
export function createServerLookUp(servers: readonly string[]): LookUp {
  return async (name) => {
    const resolver = new Resolver({ tries: 2 });
    resolver.setServers(servers);
    const found = await Promise.allSettled([resolver.resolve4(name), resolver.resolve6(name)]);
    const addresses = found.flatMap((answer) => (answer.status === "fulfilled" ? answer.value : []));
    const [failed] = found.filter((answer) => answer.status === "rejected");
    if (addresses.length === 0 && failed !== undefined) throw failed.reason;
    return addresses;
  };
}
