import type { Family } from "../../harness/measurement.ts";

export const family: Family = {
  title: "agents' clients: MCP with policy, budget and ledger, every answer durable before it leaves; spans of calls",
  measurements: ["over-stdio", "over-http", "lone-call", "many-servers", "first-call", "client-start", "tracing"],
  packages: [
    "@modelcontextprotocol/server",
    "@modelcontextprotocol/client",
    "@modelcontextprotocol/node",
    "@opentelemetry/sdk-trace",
  ],
};
