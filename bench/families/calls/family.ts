import type { Family } from "../../harness/measurement.ts";

export const family: Family = {
  title: "tool calls with everything on: policy, budget, ledger, every answer durable before it leaves",
  measurements: ["in-process", "one-at-a-time", "doors", "ledger-verify", "command-start"],
  packages: [
    "@modelcontextprotocol/server",
    "@modelcontextprotocol/client",
    "@modelcontextprotocol/node",
    "@modelcontextprotocol/sdk",
    "@connectrpc/connect-node",
  ],
};
