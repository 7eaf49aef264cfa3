import { isJsonObject, type JsonObject } from "@narthex/contracts";
import { type HeaderList, type OutgoingRequest, ownField } from "@narthex/kernel";

/** What the headers of a request depend on, besides its message. */
export interface HttpSessionState {
  /** Name of the secret that is sent as a bearer token. */
  readonly secret: string | undefined;
  readonly sessionId: string | undefined;
  /** Undefined until a revision was negotiated. */
  readonly revision: string | undefined;
}

/** From this revision on, headers repeat fields of the message. */
const FIRST_STATELESS = "2026-07-28";
const SESSION_ID = /^[\x21-\x7e]{1,1024}$/;

/** Returns the headers of every request to a server. */
export function sessionHeaders({
  secret,
  sessionId,
  revision,
}: HttpSessionState): NonNullable<OutgoingRequest["headers"]> {
  return [
    ...(secret === undefined ? [] : [["authorization", { secret, prefix: "Bearer " }] as const]),
    ...(sessionId === undefined ? [] : [["mcp-session-id", sessionId] as const]),
    ...(revision === undefined ? [] : [["mcp-protocol-version", revision] as const]),
  ];
}

/** Returns the headers of a request that carries a message. */
export function messageHeaders(
  message: JsonObject,
  standing: HttpSessionState,
): NonNullable<OutgoingRequest["headers"]> {
  const { revision = "" } = standing;
  return [
    ["content-type", "application/json"],
    ["accept", "application/json, text/event-stream"],
    ...sessionHeaders(standing),
    ...(revision >= FIRST_STATELESS ? mirroredHeaders(message) : []),
  ];
}

/**
 * Returns the session id in the headers of a response; undefined if none exists. Throws for an id that is not valid
 * in a header.
 */
export function parseSessionId(headers: HeaderList): string | undefined {
  const given = headers.find(([name]) => name === "mcp-session-id")?.[1];
  if (given === undefined || SESSION_ID.test(given)) return given;
  throw new Error("it gave its session a name that cannot be one");
}

function mirroredHeaders(message: JsonObject): (readonly [string, string])[] {
  const method = ownField(message, "method");
  if (typeof method !== "string") return [];
  const params = ownField(message, "params") ?? null;
  const name = method === "tools/call" && isJsonObject(params) ? ownField(params, "name") : undefined;
  return [["mcp-method", method], ...(typeof name === "string" ? [["mcp-name", headerText(name)] as const] : [])];
}

/** Encodes text that is not valid in a header as base64, as the protocol specifies. */
function headerText(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}
