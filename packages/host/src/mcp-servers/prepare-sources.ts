import { realpath } from "node:fs/promises";
import { homedir } from "node:os";
import { KernelError } from "@narthex/contracts";
import type { Tool } from "@narthex/kernel";
import { reservedNameProblem } from "../adapters/reserved-names.ts";
import { parseEgressUrl } from "../egress/egress-url.ts";
import { readSecrets } from "../secrets/read-secrets.ts";
import type { SecretSources } from "../secrets/secret-source.ts";
import { findHomes, findPlacementProblem } from "../toolchains/prefix-restrictions.ts";
import type { ServerSettings, ServersSettings } from "./server-settings.ts";
import type { ServerSource } from "./server-source.ts";
import { verifyToolProfiles } from "./tool-profile.ts";

export interface SourcesOptions {
  readonly settings: ServersSettings;
  readonly secrets: SecretSources;
  readonly environment: NodeJS.ProcessEnv;
  readonly kernelHome: string;
  readonly builtins: readonly Tool[];
  /** Returns why a path conflicts with the vault. */
  readonly findVaultConflict?: ((path: string) => string | undefined) | undefined;
  readonly version: string;
}

/**
 * Prepares everything from which the configured servers are started. Throws CONFIG_INVALID for conflicting settings.
 */
export async function prepareSources(options: SourcesOptions): Promise<ServerSource[]> {
  const { settings, environment } = options;
  const wanted = new Set([...settings.values()].flatMap((server) => [...server.secrets.values()]));
  const secrets = await readSecrets({ sources: options.secrets, names: wanted, environment });
  return await Promise.all(
    [...settings.values()].map(async (server): Promise<ServerSource> => {
      verifyToolProfiles(server);
      verifyUrl(server);
      const reserved = reservedNameProblem(`${server.name}_x`, options.builtins);
      if (reserved !== undefined) throw invalid(server, `needs another name: ${reserved}`);
      return { settings: server, secrets, files: await findFiles(server, options), version: options.version };
    }),
  );
}

function verifyUrl(server: ServerSettings): void {
  if (server.url === undefined) return;
  try {
    parseEgressUrl(server.url);
  } catch (fault) {
    throw invalid(server, `cannot be asked at its url: ${fault instanceof Error ? fault.message : "it is none"}`);
  }
}

/**
 * SECURITY: the server can read every file named here. Files of the kernel itself are always refused, and so are
 * directories that contain much more than a program.
 */
async function findFiles(server: ServerSettings, options: SourcesOptions): Promise<ServerSource["files"]> {
  const kernelHome = await realpath(options.kernelHome).catch(() => options.kernelHome);
  const around = { kernelHome, workspace: undefined, homes: await findHomes(homedir()) };
  return await Promise.all(
    server.files.map(async (target) => {
      const source = await realpath(target).catch(() => {
        throw invalid(server, `names the file \`${target.slice(0, 200)}\`, which is not there`);
      });
      const refused =
        findPlacementProblem(source, around) ??
        findPlacementProblem(target, around) ??
        options.findVaultConflict?.(source);
      if (refused !== undefined) throw invalid(server, `cannot be shown \`${target.slice(0, 200)}\`: ${refused}`);
      return { source, target };
    }),
  );
}

function invalid({ name }: ServerSettings, why: string): KernelError {
  return new KernelError("CONFIG_INVALID", `\`mcp_servers.${name}\` ${why}`);
}
