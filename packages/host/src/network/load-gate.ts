import { rootCertificates } from "node:tls";
import type { EgressGate } from "@narthex/kernel";
import { createEgressGate } from "../egress/create-egress-gate.ts";
import type { EgressSecrets } from "../egress/egress-secrets.ts";
import { createServerLookUp } from "../egress/resolve-host.ts";

export interface LoadGateOptions {
  readonly secrets: EgressSecrets;
  /** Servers that are asked instead of the system's resolver; none is the system's. */
  readonly dns: readonly string[];
  /** Certificates that are trusted besides, in PEM. */
  readonly authorities: readonly string[];
}

/** Not to be imported by what is loaded at every start: it brings an HTTP client. */
export function loadGate({ secrets, dns, authorities }: LoadGateOptions): EgressGate {
  return createEgressGate({
    secrets,
    ...(dns.length > 0 && { lookUp: createServerLookUp(dns) }),
    ...(authorities.length > 0 && { authorities: [...rootCertificates, ...authorities] }),
  });
}
