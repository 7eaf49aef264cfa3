import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import { ownField } from "@narthex/kernel";
import { readShaped, type ShapeReadingContext } from "./read-shaped.ts";
import type { ServerSettings, ServersSettings, ToolProfile } from "./server-settings.ts";
import { SERVERS_SCHEMA } from "./servers-schema.ts";

const BEARER_HEADER = "authorization";

/** Reads `mcp_servers`. Problems are reported to `reading`; do not use the result then. */
export function readServers(
  node: Parameters<typeof readShaped>[0],
  path: string,
  reading: ShapeReadingContext,
): ServersSettings {
  const json = readShaped(node, SERVERS_SCHEMA, path, reading);
  return new Map(entriesOf(json).map(([name, server]) => [name, serverOf(name, server)]));
}

/** INVARIANT: the value matches the schema. */
function serverOf(name: string, json: JsonValue): ServerSettings {
  const server = asObject(json);
  const [url, secret] = [ownField(server, "url"), ownField(server, "secret")];
  return {
    name,
    ...(url !== undefined && { url: asText(url) }),
    command: textsOf(ownField(server, "command")),
    environment: textMap(ownField(server, "env")),
    secrets: secret === undefined ? textMap(ownField(server, "secrets")) : new Map([[BEARER_HEADER, asText(secret)]]),
    files: textsOf(ownField(server, "files")),
    workspace: (ownField(server, "workspace") ?? "none") as ServerSettings["workspace"],
    defaultProfile: toToolProfile(server),
    tools: new Map(entriesOf(ownField(server, "tools")).map(([tool, given]) => [tool, toToolProfile(asObject(given))])),
  };
}

function toToolProfile(given: JsonObject): ToolProfile {
  const [tier, effects, timeoutMs] = [given["tier"], given["effects"], given["timeout_ms"]];
  return {
    ...(tier !== undefined && { tier: tier as NonNullable<ToolProfile["tier"]> }),
    ...(effects !== undefined && { effects: [...new Set(textsOf(effects))] as NonNullable<ToolProfile["effects"]> }),
    ...(typeof timeoutMs === "number" && { timeoutMs }),
  };
}

function entriesOf(json: JsonValue | undefined): [string, JsonValue][] {
  return Object.entries(asObject(json));
}

function textMap(json: JsonValue | undefined): ReadonlyMap<string, string> {
  return new Map(entriesOf(json).map(([name, text]) => [name, asText(text)]));
}

function textsOf(json: JsonValue | undefined): string[] {
  return Array.isArray(json) ? json.map(asText) : [];
}

function asText(json: JsonValue): string {
  return typeof json === "string" ? json : "";
}

function asObject(json: JsonValue | undefined): JsonObject {
  return json !== undefined && isJsonObject(json) ? json : {};
}
