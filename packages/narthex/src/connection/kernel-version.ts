import { type IncomingMessage, request as sendRequest } from "node:http";
import { buffer } from "node:stream/consumers";
import { isJsonObject, type JsonValue, parseJson } from "@narthex/contracts";
import { unreachable } from "./connection-error.ts";

const REVISION = "2026-07-28";
const META = {
  "io.modelcontextprotocol/protocolVersion": REVISION,
  "io.modelcontextprotocol/clientInfo": { name: "narthex", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
const SERVER_INFO = "io.modelcontextprotocol/serverInfo";
const UNAUTHORIZED = 401;
const QUESTION = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "server/discover", params: { _meta: META } });

/** The version of the kernel behind a services socket, as it tells MCP clients; undefined if the session has ended. */
export async function askKernelVersion(socketPath: string, token: string): Promise<string | undefined> {
  const response = await post(socketPath, token).catch((error: unknown) => {
    throw unreachable(socketPath, error);
  });
  const body = await buffer(response);
  if (response.statusCode === UNAUTHORIZED) return undefined;
  if (response.statusCode !== 200) throw unreachable(socketPath, `HTTP status ${response.statusCode ?? 0}`);
  const version = fieldOf(fieldOf(fieldOf(fieldOf(parseJson(body), "result"), "_meta"), SERVER_INFO), "version");
  return typeof version === "string" ? version.slice(0, 40) : "unknown";
}

function post(socketPath: string, token: string): Promise<IncomingMessage> {
  const headers = {
    host: "localhost",
    authorization: `Bearer ${token}`,
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-protocol-version": REVISION,
    "mcp-method": "server/discover",
  };
  return new Promise((resolve, reject) => {
    sendRequest({ socketPath, method: "POST", path: "/mcp", headers, agent: false }, resolve)
      .on("error", reject)
      .end(QUESTION);
  });
}

function fieldOf(value: JsonValue | undefined, key: string): JsonValue | undefined {
  return value !== undefined && isJsonObject(value) ? value[key] : undefined;
}
