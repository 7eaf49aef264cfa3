import {
  CLIENT_CAPABILITIES_META_KEY,
  CLIENT_INFO_META_KEY,
  type Server,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { McpClient } from "./call-tool.ts";

const MAX_NAME = 100;

/**
 * Reads how a client describes itself: with each request in the current revision, at initialization in the previous
 * one.
 */
export function readClientInfo(server: Server, { mcpReq }: ServerContext): Pick<McpClient, "name" | "takesForms"> {
  const { envelope } = mcpReq;
  const info = fieldOf(envelope, CLIENT_INFO_META_KEY) ?? server.getClientVersion();
  const capabilities = fieldOf(envelope, CLIENT_CAPABILITIES_META_KEY) ?? server.getClientCapabilities();
  const name = fieldOf(info, "name");
  return {
    name: typeof name === "string" ? name.slice(0, MAX_NAME).toWellFormed() : "without a name",
    takesForms: takesForms(fieldOf(capabilities, "elicitation")),
  };
}

/** Before there were two kinds of elicitation, an empty object meant forms. */
function takesForms(elicitation: unknown): boolean {
  if (typeof elicitation !== "object" || elicitation === null) return false;
  return fieldOf(elicitation, "form") !== undefined || fieldOf(elicitation, "url") === undefined;
}

function fieldOf(value: unknown, key: string): unknown {
  return typeof value === "object" && value !== null && Object.hasOwn(value, key) ? Reflect.get(value, key) : undefined;
}
