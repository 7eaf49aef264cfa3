import type { ProgramNetwork } from "@narthex/kernel";
import type { SandboxMount } from "../sandbox/sandbox-plan.ts";

/** Path of the gate's socket inside, and the port on which programs reach the gate. */
export const GATE_SOCKET = "/run/narthex/gate";
export const GATE_PORT = 3128;

export interface NetworkPlan {
  readonly mounts: readonly SandboxMount[];
  readonly environment: Readonly<Record<string, string>>;
  /** Git settings as keys and values. */
  readonly git: readonly (readonly [key: string, value: string])[];
}

const NONE: NetworkPlan = { mounts: [], environment: {}, git: [] };

/** Plans what a program needs to reach the network; nothing if it has no network access. */
export function networkPlan(network: ProgramNetwork | undefined): NetworkPlan {
  if (network === undefined) return NONE;
  const { socketPath, credential } = network;
  const word = credential.slice(credential.indexOf(":") + 1);
  const proxy = `http://${credential}@127.0.0.1:${GATE_PORT}`;
  const gate = `http://127.0.0.1:${GATE_PORT}/${word}/`;
  return {
    mounts: [{ source: socketPath, target: GATE_SOCKET, access: "read" }],
    environment: {
      http_proxy: proxy,
      https_proxy: proxy,
      HTTP_PROXY: proxy,
      HTTPS_PROXY: proxy,
      no_proxy: "127.0.0.1,localhost,::1",
      NO_PROXY: "127.0.0.1,localhost,::1",
      NODE_USE_ENV_PROXY: "1",
      NARTHEX_GATE: gate,
    },
    // Git sends requests to the gate, which does TLS for it: so requests can be inspected and credentials added.
    git: [
      [`url.${gate}https://.insteadOf`, "https://"],
      [`url.${gate}https://.insteadOf`, "ssh://git@"],
      [`url.${gate}git@.insteadOf`, "git@"],
    ],
  };
}
