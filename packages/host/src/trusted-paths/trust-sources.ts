import { type ConfigFile, userConfigFiles } from "./git-config-files.ts";

/** Further sources on a machine that determine which files of a workspace are run or trusted. */
export interface TrustSources {
  /** Home directory of the user; empty if unknown. */
  readonly home: string;
  /** Git configuration that applies to every repository. */
  readonly userConfig: readonly ConfigFile[];
  /** Returns further protected paths of a workspace as absolute real paths, whether or not they exist. */
  realPaths(workspace: string): Promise<readonly string[]>;
}

export function userTrustSources(
  home: string,
  environment: NodeJS.ProcessEnv,
  realPaths: TrustSources["realPaths"] = noPaths,
): TrustSources {
  return { home, userConfig: userConfigFiles(home, environment), realPaths };
}

/** For considering only the workspace itself. */
export const NO_SOURCES: TrustSources = { home: "", userConfig: [], realPaths: noPaths };

function noPaths(): Promise<readonly string[]> {
  return Promise.resolve([]);
}
