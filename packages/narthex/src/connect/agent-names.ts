/** Name of the agent in the session of each client. */
export const AGENT_NAMES = {
  claude: "claude-code",
  codex: "codex",
  cursor: "cursor",
  gemini: "gemini-cli",
  opencode: "opencode",
  qwen: "qwen-code",
  vscode: "vscode",
} as const;
