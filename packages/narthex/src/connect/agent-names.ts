/** What the session of each client's agent is called. */
export const AGENT_NAMES = {
  claude: "claude-code",
  codex: "codex",
  cursor: "cursor",
  gemini: "gemini-cli",
  opencode: "opencode",
  qwen: "qwen-code",
  vscode: "vscode",
} as const;
