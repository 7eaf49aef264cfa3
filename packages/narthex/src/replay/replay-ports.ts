import { createRechecker, createVirtualFiles } from "@narthex/host";
import { createRegistry, type RegisteredTool, type ReplayPorts, type Tool } from "@narthex/kernel";

export interface ReplayPortsOptions {
  readonly tools: readonly Tool[];
  readonly redactors?: Parameters<typeof createRegistry>[0];
  readonly programs?: ReplayPorts["programs"];
  readonly wasm?: ReplayPorts["wasm"];
}

/** Creates the ports for a replay: the local tools, with files and decisions from the record. */
export function createReplayPorts({ tools, redactors, programs, wasm }: ReplayPortsOptions): ReplayPorts {
  const registry = createRegistry(redactors);
  for (const tool of tools) registry.register(tool);
  return {
    findTool: (name, version): RegisteredTool | undefined => registry.resolve(name, version),
    openFiles: createVirtualFiles,
    recheck: createRechecker(),
    programs,
    wasm,
  };
}
