import { networkInterfaces } from "node:os";
import { addressBytes } from "./address-class.ts";

const FRESH_MS = 10_000;

/** Creates a check for addresses of this host: services that listen there may trust connections from the same host. */
export function createOwnAddressCheck(
  nowMs: () => number = performance.now.bind(performance),
): (b: Uint8Array) => boolean {
  let known = new Set<string>();
  let readAtMs = Number.NEGATIVE_INFINITY;
  return (bytes) => {
    if (nowMs() - readAtMs > FRESH_MS) {
      readAtMs = nowMs();
      known = new Set(
        Object.values(networkInterfaces()).flatMap((all) => (all ?? []).map(({ address }) => keyOf(address))),
      );
    }
    return known.has(Buffer.from(bytes).toString("hex"));
  };
}

function keyOf(address: string): string {
  return Buffer.from(addressBytes(address)).toString("hex");
}
