import { KernelError } from "@narthex/contracts";
import {
  type AddedTool,
  addedToolId,
  type Configuration,
  describeCandidate,
  describeWasmCandidate,
  type EndpointPin,
  isEndpoint,
  isProgram,
  isWasm,
  secretProblem,
} from "@narthex/host";
import type { Logger, Tool } from "@narthex/kernel";
import { createHttpTool } from "@narthex/tools";

/** Describes an added tool that is called over HTTP. Throws INVALID_DECLARATION for an invalid endpoint. */
export function describeEndpoint({ declaration, pin }: AddedTool<EndpointPin>): Tool {
  return createHttpTool(declaration, pin);
}

/** Describes an added tool as the registry will see it, for a review before it is stored. */
export function describeAddedTool(tool: AddedTool): Tool {
  if (isProgram(tool)) return describeCandidate(tool);
  if (isEndpoint(tool)) return describeEndpoint(tool);
  if (isWasm(tool)) return describeWasmCandidate(tool);
  throw new KernelError("INTERNAL", "a tool is neither a program nor an endpoint nor a module");
}

/** Creates a factory for the endpoint tools of a home. */
export function createEndpointToolFactory(
  { network }: Pick<Configuration, "network">,
  log?: Logger,
): (tool: AddedTool<EndpointPin>) => Tool {
  return (added) => {
    const tool = describeEndpoint(added);
    const problem = endpointSecretProblem(added, network);
    if (problem === undefined) return tool;
    log?.("warn", "a secret cannot be sent", { tool: addedToolId(added), problem });
    // SECURITY: a tool whose secret cannot be sent is never called without it.
    return { ...tool, run: () => Promise.reject(new KernelError("EXECUTION_FAILED", problem)) };
  };
}

export function endpointSecretProblem(
  { pin }: AddedTool<EndpointPin>,
  network: Configuration["network"],
): string | undefined {
  return pin.key && secretProblem(pin.key.secret, pin.url, network);
}
