import { isJsonObject, type JsonValue, KernelError, utf8 } from "@narthex/contracts";
import { ownField } from "@narthex/kernel";
import type { EndpointOperation } from "./http-endpoint.ts";

/** Everything that is sent except the headers that every request has. */
export interface EndpointRequest {
  readonly method: string;
  readonly url: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: Uint8Array | undefined;
}

const PLACEHOLDER = /\{([^{}]+)\}/g;

/**
 * Builds the request of one operation. Throws INVALID_INPUT for a value that does not fit its place.
 *
 * SECURITY: a value stays within its path segment, whatever it contains. Dot segments would lead to a different
 * operation than the permitted one, so a path that a URL parser changes is refused.
 */
export function operationRequest(base: string, operation: EndpointOperation, input: JsonValue): EndpointRequest {
  const given = isJsonObject(input) ? input : {};
  const valueOf = (name: string): JsonValue | undefined => ownField(given, name);
  const prefix = new URL(base).pathname.replace(/\/+$/, "");
  const path = operation.path.replaceAll(PLACEHOLDER, (_, name: string) => {
    const text = textOf(valueOf(name), name);
    if (text === "") throw unfit(name, "must not be empty: it is a part of the path");
    return encodeURIComponent(text);
  });
  const url = new URL(base);
  url.pathname = `${prefix}${path}`;
  if (url.pathname !== `${prefix}${path}`) throw unfit("$", "leads to another path than the operation's");
  const headers: (readonly [string, string])[] = [];
  for (const { name, in: place } of operation.parameters) {
    const value = valueOf(name);
    if (value === undefined || place === "path") continue;
    if (place === "header") headers.push([name, textOf(value, name)]);
    else for (const one of Array.isArray(value) ? value : [value]) url.searchParams.append(name, textOf(one, name));
  }
  const body = operation.hasBody ? valueOf("body") : undefined;
  return {
    method: operation.method,
    url: url.href,
    headers,
    body: body === undefined ? undefined : utf8(JSON.stringify(body)),
  };
}

function textOf(value: JsonValue | undefined, name: string): string {
  if (typeof value === "string" && value.isWellFormed()) return value;
  if (typeof value === "number" || typeof value === "boolean") return String(value);
  throw unfit(name, "must be a text, a number, or true or false, to be sent where it belongs");
}

function unfit(field: string, message: string): KernelError {
  return new KernelError("INVALID_INPUT", `${field.slice(0, 80)}: ${message}`, {
    violations: [{ field, rule: "format", message }],
  });
}
