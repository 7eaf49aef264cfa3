/** What the user's own programs run or trust in a workspace, besides paths with a protected name. */
export interface TrustedFindings {
  /** Protected from every writer. A part may contain `*`. */
  readonly paths: readonly string[];
  /** Directories in the role of `.git`, by any name: programs write to them through git, file tools do not. */
  readonly directories: readonly string[];
  /** Directories that are repositories only by their content. */
  readonly shapes: readonly string[];
}

export const NO_FINDINGS: TrustedFindings = { paths: [], directories: [], shapes: [] };
