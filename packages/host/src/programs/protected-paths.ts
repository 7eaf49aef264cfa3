/**
 * What agents usually have no business changing: what other programs run or trust without being asked, and credentials.
 * `protected_paths` in the configuration takes its place.
 */
export const DEFAULT_PROTECTED_PATHS: readonly string[] = [
  ".git",
  // Continuous integration.
  ".github/workflows",
  ".github/actions",
  ".gitlab-ci.yml",
  ".circleci",
  ".buildkite",
  ".travis.yml",
  ".woodpecker.yml",
  ".drone.yml",
  "azure-pipelines.yml",
  "bitbucket-pipelines.yml",
  "Jenkinsfile",
  // Editors and agents.
  ".vscode",
  ".idea",
  ".zed",
  ".cursor",
  ".claude",
  ".codex",
  ".gemini",
  ".mcp.json",
  ".devcontainer",
  // What shells, package managers and hooks run at start.
  ".husky",
  ".envrc",
  ".bashrc",
  ".bash_profile",
  ".bash_login",
  ".profile",
  ".zshrc",
  ".zshenv",
  ".zprofile",
  ".npmrc",
  ".yarnrc",
  ".yarnrc.yml",
  ".pnpmfile.cjs",
  ".gitconfig",
  // Credentials.
  ".env",
  ".env.local",
  ".env.production",
  ".netrc",
  ".pypirc",
  ".git-credentials",
  ".ssh",
  ".aws",
  ".gnupg",
  ".kube",
  ".docker/config.json",
];

/** Of a repository, what decides which programs git runs. The rest of it is git's to write. */
const GIT_CONFIGURATION = [
  ".git/config",
  ".git/config.worktree",
  ".git/modules/*/config",
  ".git/worktrees/*/config.worktree",
];
const GIT_PROGRAMS = [".git/hooks", ".git/info/attributes", ".git/modules/*/hooks", ".git/modules/*/info/attributes"];

/** The paths as programs are kept from them: a repository's own files must be writable for git to work. */
export function pathsForPrograms(paths: readonly string[], git: "guarded" | "configurable"): string[] {
  const ofGit = git === "guarded" ? [...GIT_CONFIGURATION, ...GIT_PROGRAMS] : GIT_PROGRAMS;
  return paths.flatMap((path) => (path === ".git" ? ofGit : [path]));
}
