import { KernelError } from "@narthex/contracts";
import type { KernelParts } from "../../kernel-parts.ts";
import { OUTSIDE_EFFECTS } from "../../tool/effect-rules.ts";
import type { NetworkAccess } from "../../tool/tool.ts";
import { CallNetwork } from "../call-network.ts";
import type { PermittedCall } from "../decide/decide.ts";

/** Creates network access for one call. */
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

/** Whether the call may send anything off the machine. */
export function mayUseNetwork({ effects }: Pick<PermittedCall, "effects">): boolean {
  return effects.some((effect) => OUTSIDE_EFFECTS.has(effect));
}

/** Returns the network access of the call, which is created at its first request. */
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
