import { bindToPorts, type Capability, defineTool, type Tool, type ToolSession } from "@narthex/kernel";
import type { AddedTool } from "./added-tool.ts";
import { readPinnedFile, type StoredTool } from "./tool-store.ts";
import { hashModule, type WasmPin } from "./wasm-pin.ts";

/**
 * Creates a tool that runs its module in a fresh instance for each call, with the host calls that its effects grant.
 */
export function createWasmTool(stored: StoredTool<WasmPin>): Tool {
  const { declaration, pin } = stored;
  const { inputSchema, outputSchema, ...rest } = declaration;
  const module = { hash: pin.module.hash, read: () => readPinnedFile(stored, pin.module) };
  const tool = defineTool({
    ...rest,
    inputSchema: true,
    source: "wasm",
    isolation: "wasm",
    capabilities: [...declaration.capabilities, ...execRight(declaration.bounds)],
    needs: (_input, session) => requiredCapabilities(stored, session),
    run: (_input, context) => context.wasm.run(module),
  });
  return bindToPorts({ ...tool, inputSchema, outputSchema, program: { hash: hashModule(pin) } });
}

/** Describes a tool as the registry will see it, so that it can be reviewed before it is stored. */
export function describeWasmCandidate(candidate: AddedTool<WasmPin>): Tool {
  return createWasmTool({ ...candidate, directory: "" });
}

/** A session needs a capability for at least the fuel and memory that the module may use. */
function execRight({ maxFuel = 0, maxMemoryBytes = 0 }: StoredTool["declaration"]["bounds"]): Capability[] {
  return [{ kind: "wasm_exec", maxFuel, maxMemoryBytes }];
}

/**
 * The whole workspace, and each host that is declared without a wildcard. Other hosts are decided when the module
 * requests them.
 */
function requiredCapabilities({ declaration }: StoredTool<WasmPin>, { workspace }: ToolSession): Capability[] {
  const { effects, capabilities } = declaration;
  return [
    ...(effects.includes("fs_read") ? [{ kind: "fs_read", prefixes: [workspace] } as const] : []),
    ...(effects.includes("fs_write") ? [{ kind: "fs_write", prefixes: [workspace] } as const] : []),
    ...capabilities.filter(namesHosts),
  ];
}

function namesHosts(capability: Capability): boolean {
  if (capability.kind !== "net_read" && capability.kind !== "net_write") return false;
  return capability.hosts.length > 0 && capability.hosts.every(({ host }) => !host.includes("*"));
}
