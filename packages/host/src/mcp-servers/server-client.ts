import { isJsonObject, type JsonObject, type JsonValue, KernelError } from "@narthex/contracts";
import { ownField, redactJson } from "@narthex/kernel";
import { type Listing, readListing } from "./listing.ts";
import type { RpcResponse, ServerConnection } from "./server-connection.ts";
import { SERVER_LIMITS } from "./server-limits.ts";
import { redactorsFor, type ServerSource } from "./server-source.ts";
import { toDisplayText } from "./display-text.ts";

/** Revisions with a handshake, newest first. */
const REVISIONS = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"];
/** Revision without a handshake: each request is self-contained. */
const STATELESS_REVISION = "2026-07-28";
const MAX_CURSOR = 4096;
const MAX_MESSAGE = 1000;

export interface ServerClient {
  /** Lists every tool of the server, with the server's own secrets redacted. */
  listTools(signal: AbortSignal): Promise<Listing>;
  /** Throws EXECUTION_FAILED with the server's message if it returns an error. */
  callTool(name: string, input: JsonObject, signal: AbortSignal): Promise<JsonObject>;
}

/**
 * Negotiates the protocol with a server. Tries the handshake first: servers without one reject it with an error, while
 * many servers with one exit at any other first request.
 */
export async function openServerClient(
  connection: ServerConnection,
  source: ServerSource,
  signal: AbortSignal,
): Promise<ServerClient> {
  const clientInfo = { name: "narthex", version: source.version };
  const [protocolVersion = ""] = REVISIONS;
  const hello = await connection.request("initialize", { protocolVersion, capabilities: {}, clientInfo }, signal);
  if ("result" in hello) {
    const agreed = ownField(hello.result, "protocolVersion");
    if (typeof agreed !== "string") throw failed("it names no revision of the protocol");
    if (!REVISIONS.includes(agreed)) {
      throw failed(`it wants revision ${toDisplayText(agreed, 40)} of the protocol, which is not known here`);
    }
    connection.setRevision(agreed);
    connection.notify("notifications/initialized");
    return createServerClient(connection, source, {});
  }
  const envelope = {
    _meta: {
      "io.modelcontextprotocol/protocolVersion": STATELESS_REVISION,
      "io.modelcontextprotocol/clientInfo": clientInfo,
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  };
  connection.setRevision(STATELESS_REVISION);
  const found = await connection.request("server/discover", envelope, signal);
  const revisions = "result" in found ? ownField(found.result, "supportedVersions") : undefined;
  if (Array.isArray(revisions) && revisions.includes(STATELESS_REVISION))
    return createServerClient(connection, source, envelope);
  throw failed(`it refused the handshake: ${toDisplayText(hello.refusal.message, MAX_MESSAGE)}`);
}

function createServerClient(connection: ServerConnection, source: ServerSource, envelope: JsonObject): ServerClient {
  const ask = async (method: string, params: JsonObject, signal: AbortSignal): Promise<JsonObject> =>
    toResult(await connection.request(method, { ...params, ...envelope }, signal));
  const redactors = redactorsFor(source);
  return {
    async listTools(signal) {
      const tools: JsonValue[] = [];
      let cursor: string | undefined;
      for (let page = 0; page < SERVER_LIMITS.pages; page++) {
        const listed = await ask("tools/list", cursor === undefined ? {} : { cursor }, signal);
        const more = ownField(listed, "tools");
        if (!Array.isArray(more)) throw failed("its list of tools is no list");
        tools.push(...more);
        if (tools.length > SERVER_LIMITS.tools) throw failed(`it has more than ${SERVER_LIMITS.tools} tools`);
        cursor = cursorOf(listed);
        if (cursor === undefined) return readListing(tools.map((tool) => redactJson(tool, redactors)));
      }
      throw failed(`its list of tools has more than ${SERVER_LIMITS.pages} pages`);
    },
    callTool: (name, input, signal) => ask("tools/call", { name, arguments: input }, signal),
  };
}

function cursorOf(listed: JsonObject): string | undefined {
  const cursor = ownField(listed, "nextCursor");
  if (cursor === undefined || cursor === null) return undefined;
  if (typeof cursor === "string" && cursor.length <= MAX_CURSOR) return cursor;
  throw failed("its list of tools does not say how it goes on");
}

function toResult(answer: RpcResponse): JsonObject {
  if ("refusal" in answer) throw failed(`it refused: ${toDisplayText(answer.refusal.message, MAX_MESSAGE)}`);
  const { result } = answer;
  const kind = ownField(result, "resultType");
  if (kind !== undefined && kind !== "complete") {
    const asked = typeof kind === "string" ? toDisplayText(kind, 40) : "something";
    throw failed(`it did not finish and asks for ${asked}, which it is not given`);
  }
  if (isJsonObject(ownField(result, "task") ?? null))
    throw failed("it made a task of the call, which is not known here");
  return result;
}

function failed(why: string): KernelError {
  return new KernelError("EXECUTION_FAILED", `the MCP server failed: ${why}`);
}
