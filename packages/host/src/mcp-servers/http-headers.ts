import { isJsonObject, type JsonObject } from "@narthex/contracts";
import { type HeaderList, type OutgoingRequest, ownField } from "@narthex/kernel";

/** What the headers of a request follow from, besides its message. */
export interface HttpSessionState {
  /** The name of the secret that is shown as a bearer token. */
  readonly secret: string | undefined;
  readonly sessionId: string | undefined;
  /** Once there is one. */
  readonly revision: string | undefined;
}

/** From here on the headers repeat what the message says. */
const FIRST_STATELESS = "2026-07-28";
const SESSION_ID = /^[\x21-\x7e]{1,1024}$/;

/** For every request to a server. */
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

/** For one that carries a message. */
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

/** The session that an answer opens; undefined for none. Throws for one that no header can hold. */
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

/** As the protocol has it: whatever a header cannot hold as it is goes in base64. */
function headerText(text: string): string {
  const isPlain = /^[\x21-\x7e](?:[\t\x20-\x7e]*[\x21-\x7e])?$/.test(text) && !/^=\?base64\?.*\?=$/.test(text);
  return isPlain ? text : `=?base64?${Buffer.from(text).toString("base64")}?=`;
}
