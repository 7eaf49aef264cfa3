/** What the user's own programs run or trust in a workspace, besides what has a protected name. */
export interface TrustedFindings {
  /** Protected from every writer. A part may hold `*`. */
  readonly paths: readonly string[];
  /** Directories like `.git`, by any name: programs write in them by way of git, file tools do not. */
  readonly directories: readonly string[];
  /** Directories that only their content makes a repository. */
  readonly shapes: readonly string[];
}

export const NO_FINDINGS: TrustedFindings = { paths: [], directories: [], shapes: [] };
