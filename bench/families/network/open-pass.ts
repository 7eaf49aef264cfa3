import type { EgressGrant } from "@narthex/kernel";

/** A pass to the loopback that counts what it is told, as a call's does, and writes nothing down. */
export function openPass(port: number): EgressGrant & { readonly seen: { requests: number; bytes: number } } {
  const seen = { requests: 0, bytes: 0 };
  return {
    seen,
    admit({ host, port: asked }) {
      if (host !== "127.0.0.1" || asked !== port) throw new Error(`\`${host}\` was not to be asked`);
    },
    isGranted: (address, asked) => address === "127.0.0.1" && asked === port,
    bounds: { maxRequests: 1e9, maxBytes: 1e15, maxBodyBytes: 2 ** 30 },
    credentials: [],
    onEvent: () => void seen.requests++,
    charge(bytes) {
      seen.bytes += bytes;
    },
  };
}
