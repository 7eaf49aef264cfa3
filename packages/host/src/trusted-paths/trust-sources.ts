import { type ConfigFile, userConfigFiles } from "./git-config-files.ts";

/** What else decides on a machine which files of a workspace are run or trusted. */
export interface TrustSources {
  /** Home directory of the user; empty if unknown. */
  readonly home: string;
  /** Git configuration that counts in every repository. */
  readonly userConfig: readonly ConfigFile[];
  /** Absolute real paths in a workspace that are protected besides, whether or not there is something. */
  realPaths(workspace: string): Promise<readonly string[]>;
}

export function userTrustSources(
  home: string,
  environment: NodeJS.ProcessEnv,
  realPaths: TrustSources["realPaths"] = noPaths,
): TrustSources {
  return { home, userConfig: userConfigFiles(home, environment), realPaths };
}

/** Only the workspace itself counts. */
export const NO_SOURCES: TrustSources = { home: "", userConfig: [], realPaths: noPaths };

function noPaths(): Promise<readonly string[]> {
  return Promise.resolve([]);
}
