/**
 * Determines which paths of a workspace the user's own programs currently run or trust, in addition to paths that are
 * protected by name: hook directories and files that Git's configuration names, targets of links at protected names,
 * directories that are repositories by their content.
 */
export interface TrustedPaths {
  /** Inspects the workspace. `written` are paths that a call may write, relative to the workspace's root. */
  inspect(workspace: string, written: readonly string[]): Promise<TrustedPathsSnapshot>;
  /**
   * Like `inspect`, for paths that will be written next.
   *
   * SECURITY: until the claim is released, others see these paths as written, so that two concurrent calls cannot
   * achieve together what neither may do alone.
   */
  claim(workspace: string, written: readonly string[]): Promise<TrustedPathsClaim>;
}

export interface TrustedPathsSnapshot {
  /** Whether a path is trusted, contains a trusted path, or lies below one; or would, if `written` were written. */
  isTrusted(path: string): boolean;
}

export interface TrustedPathsClaim extends TrustedPathsSnapshot {
  release(): void;
}
