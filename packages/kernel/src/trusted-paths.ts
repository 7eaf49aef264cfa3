/**
 * Which paths of a workspace the user's own programs run or trust as it is now, besides those that are protected by
 * their names: directories of hooks and files that git's configuration names, ends of links at protected names,
 * directories that are repositories by their content.
 */
export interface TrustedPaths {
  /** Looks at the workspace. `written` are paths that a call may write, relative to the workspace's root. */
  inspect(workspace: string, written: readonly string[]): Promise<TrustedPathsSnapshot>;
  /**
   * The same for paths that will be written next.
   *
   * SECURITY: until it is released, others see these paths as written. Two calls at once cannot make together what
   * neither may make alone.
   */
  claim(workspace: string, written: readonly string[]): Promise<TrustedPathsClaim>;
}

export interface TrustedPathsSnapshot {
  /** Whether a path is trusted, holds such a path, or lies below one; or would be, if `written` were written. */
  isTrusted(path: string): boolean;
}

export interface TrustedPathsClaim extends TrustedPathsSnapshot {
  release(): void;
}
