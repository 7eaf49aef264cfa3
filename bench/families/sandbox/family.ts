import type { Family } from "../../harness/measurement.ts";

export const family: Family = {
  title: "tools in sandboxes: every call checked, contained and durable before its answer leaves",
  measurements: [
    "fresh-sandbox",
    "session-shell",
    "file-read",
    "cold-worker",
    "search",
    "many-sessions",
    "parallel-shells",
  ],
  packages: ["@anthropic-ai/sandbox-runtime", "@vscode/ripgrep"],
};
