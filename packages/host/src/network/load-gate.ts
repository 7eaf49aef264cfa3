import { rootCertificates } from "node:tls";
import type { EgressGate } from "@narthex/kernel";
import { createEgressGate } from "../egress/create-egress-gate.ts";
import type { EgressSecrets } from "../egress/egress-secrets.ts";
import { createServerLookUp } from "../egress/resolve-host.ts";

export interface LoadGateOptions {
  readonly secrets: EgressSecrets;
  /** DNS servers to use; if empty, the system's resolver is used. */
  readonly dns: readonly string[];
  /** Additional trusted CA certificates, in PEM. */
  readonly authorities: readonly string[];
}

/**
 * Loads the egress gate. Modules that are loaded at every start must not import it, because it loads an HTTP client.
 */
export function loadGate({ secrets, dns, authorities }: LoadGateOptions): EgressGate {
  return createEgressGate({
    secrets,
    ...(dns.length > 0 && { lookUp: createServerLookUp(dns) }),
    ...(authorities.length > 0 && { authorities: [...rootCertificates, ...authorities] }),
  });
}
