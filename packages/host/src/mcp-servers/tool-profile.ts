import { KernelError } from "@narthex/contracts";
import type { Capability, Effect, SafetyTier } from "@narthex/kernel";
import type { ServerSettings, ToolProfile, WorkspaceAccess } from "./server-settings.ts";

/** Tier, effects and timeout of one tool of a server. */
export interface ResolvedToolProfile {
  readonly tier: SafetyTier;
  readonly effects: readonly Effect[];
  readonly timeoutMs: number | undefined;
}

const WORKSPACE_EFFECTS: Readonly<Record<WorkspaceAccess, readonly Effect[]>> = {
  none: [],
  read: ["fs_read"],
  write: ["fs_read", "fs_write"],
};
/** Effects that change or send something. */
const WRITES: ReadonlySet<Effect> = new Set<Effect>(["net_write", "fs_write"]);

/**
 * SPEC: docs/guides/mcp-servers.md. The most that is possible, unless the configuration restricts it. Claims of the
 * server itself are ignored.
 */
export function resolveToolProfile(
  { defaultProfile, tools, workspace }: ServerSettings,
  tool: string,
): ResolvedToolProfile {
  const own: ToolProfile = { ...defaultProfile, ...tools.get(tool) };
  return {
    tier: own.tier ?? "side_effecting",
    effects: own.effects ?? ["net_write", ...WORKSPACE_EFFECTS[workspace]],
    timeoutMs: own.timeoutMs,
  };
}

/** Workspace access of a process for a call with these effects; undeclared effects give none. */
export function accessFor(effects: readonly Effect[]): WorkspaceAccess {
  if (effects.includes("fs_write")) return "write";
  return effects.includes("fs_read") ? "read" : "none";
}

/** The capability for the server itself comes first, whatever its tools do. */
export function capabilitiesFor(server: string, effects: readonly Effect[]): Capability[] {
  return [
    { kind: "mcp", names: [server] },
    ...(effects.includes("fs_read") ? [{ kind: "fs_read", prefixes: [] } as const] : []),
    ...(effects.includes("fs_write") ? [{ kind: "fs_write", prefixes: [] } as const] : []),
    ...(effects.includes("process_spawn") ? [{ kind: "exec", names: [] } as const] : []),
  ];
}

/** Throws CONFIG_INVALID for contradictory settings. */
export function verifyToolProfiles(settings: ServerSettings): void {
  for (const tool of ["", ...settings.tools.keys()]) {
    const { tier, effects } = resolveToolProfile(settings, tool);
    const where = tool === "" ? `mcp_servers.${settings.name}` : `mcp_servers.${settings.name}.tools.${tool}`;
    const refuse = (why: string): never => {
      throw new KernelError("CONFIG_INVALID", `\`${where.slice(0, 200)}\` ${why}`);
    };
    const written = effects.find((effect) => WRITES.has(effect));
    if (tier === "read_only" && written !== undefined) {
      refuse(`is read_only and has the effect ${written}: name its effects without that, such as \`effects: []\``);
    }
    const allowed = WORKSPACE_EFFECTS[settings.workspace];
    const beyond = effects.find((effect) => effect.startsWith("fs_") && !allowed.includes(effect));
    if (beyond !== undefined)
      refuse(`has the effect ${beyond}, which \`workspace: ${settings.workspace}\` does not give`);
    if (effects.includes("fs_write") && !effects.includes("fs_read")) {
      refuse("must have fs_read beside fs_write: who can write the workspace can read it");
    }
  }
  const twice = [...settings.secrets.keys()].find((variable) => settings.environment.has(variable));
  if (twice !== undefined) {
    throw new KernelError(
      "CONFIG_INVALID",
      `\`mcp_servers.${settings.name}\` sets \`${twice}\` in both env and secrets`,
    );
  }
}
