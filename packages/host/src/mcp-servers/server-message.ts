import { isJsonObject, type JsonObject, type JsonValue, parseJson } from "@narthex/contracts";
import { ownField } from "@narthex/kernel";

/** A parsed line of a server's output. */
export type ServerMessage =
  | { readonly kind: "result"; readonly id: JsonValue; readonly result: JsonObject }
  | { readonly kind: "error"; readonly id: JsonValue; readonly code: number; readonly message: string }
  | { readonly kind: "request"; readonly id: string | number; readonly method: string }
  | { readonly kind: "notification"; readonly method: string }
  /** Other output of a program; ignored. */
  | { readonly kind: "noise" }
  /** Invalid or ambiguous: the server violates the protocol. */
  | { readonly kind: "broken"; readonly why: string };

/** Parses a line strictly: duplicate keys, numbers that lose precision and excessive nesting are "broken". */
export function parseServerMessage(line: Uint8Array): ServerMessage {
  const isObject = firstCharacter(line) === "{";
  let json: JsonValue;
  try {
    json = parseJson(line);
  } catch {
    return isObject ? broken("a line that begins like JSON and is none") : { kind: "noise" };
  }
  if (Array.isArray(json)) return broken("a batch, which no revision of the protocol has any more");
  if (!isJsonObject(json)) return { kind: "noise" };
  if (ownField(json, "jsonrpc") !== "2.0") return broken("an object that is no JSON-RPC message");
  return readMessage(json);
}

function readMessage(json: JsonObject): ServerMessage {
  const [id, method] = [ownField(json, "id"), ownField(json, "method")];
  const [result, error] = [ownField(json, "result"), ownField(json, "error")];
  if (typeof method === "string" && result === undefined && error === undefined) {
    if (id === undefined) return { kind: "notification", method };
    return typeof id === "string" || typeof id === "number"
      ? { kind: "request", id, method }
      : broken("a request without an id");
  }
  if (method !== undefined || (result === undefined) === (error === undefined)) {
    return broken("a message that is neither a request nor an answer");
  }
  if (result !== undefined) {
    if (id === undefined || !isJsonObject(result))
      return broken("an answer without an id, or whose result is no object");
    return { kind: "result", id, result };
  }
  if (!isJsonObject(error ?? null)) return broken("an error that says nothing");
  const { code, message } = error as JsonObject;
  if (typeof code !== "number" || typeof message !== "string") return broken("an error that says nothing");
  // An error without an id: the server could not parse a message.
  return id === undefined || id === null ? { kind: "noise" } : { kind: "error", id, code, message };
}

function broken(why: string): ServerMessage {
  return { kind: "broken", why };
}

function firstCharacter(line: Uint8Array): string {
  return Buffer.from(line.subarray(0, 64)).toString("latin1").trimStart().charAt(0);
}
