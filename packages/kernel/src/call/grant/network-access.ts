import { KernelError } from "@narthex/contracts";
import type { KernelParts } from "../../kernel-parts.ts";
import { OUTSIDE_EFFECTS } from "../../tool/effect-rules.ts";
import type { NetworkAccess } from "../../tool/tool.ts";
import { CallNetwork } from "../call-network.ts";
import type { PermittedCall } from "../decide/decide.ts";

/** Requests to other hosts, as one call may send them. */
export function createNetworkAccess(
  call: PermittedCall,
  guard: () => void,
  signal: () => AbortSignal,
  kernel: KernelParts,
): NetworkAccess {
  return {
    async request(request) {
      guard();
      return requireCallNetwork(call, kernel).client.request(request, signal());
    },
    accounting() {
      guard();
      return openNetwork(call, kernel).accounting();
    },
  };
}

/** Whether anything of the call may leave the machine. */
export function mayUseNetwork({ effects }: Pick<PermittedCall, "effects">): boolean {
  return effects.some((effect) => OUTSIDE_EFFECTS.has(effect));
}

/** What leaves the machine for the call, from its first request on. */
export function requireCallNetwork(call: PermittedCall, kernel: KernelParts): CallNetwork {
  if (!mayUseNetwork(call)) {
    throw new KernelError("UNDECLARED_EFFECT", `\`${call.registered.id}\` declared no effect on the network`);
  }
  return openNetwork(call, kernel);
}

function openNetwork(call: PermittedCall, kernel: KernelParts): CallNetwork {
  if (kernel.egress === undefined)
    throw new KernelError("SANDBOX_UNAVAILABLE", "this kernel has no way to the network");
  call.trail.network ??= new CallNetwork(call, kernel.egress, kernel);
  return call.trail.network;
}
