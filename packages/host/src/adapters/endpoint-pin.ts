import type { JsonObject, JsonValue } from "@narthex/contracts";
import { joinField, type JsonReader, ownField } from "@narthex/kernel";
import { type OperationPin, operationToJson, readOperationPin } from "./operation-pin.ts";
import { isSecretName } from "../secrets/secret-source.ts";

/**
 * The HTTP endpoint of a tool that is not a program on this machine. Whether the endpoint can be called is checked when
 * its tool is created.
 */
export interface EndpointPin {
  readonly kind: "http";
  readonly url: string;
  readonly key?: EndpointPinKey;
  readonly isIdempotent: boolean;
  /**
   * For a tool imported from an API: how an input becomes a request. Without an operation the input is posted as it is.
   */
  readonly operation?: OperationPin;
}

interface EndpointPinKey {
  /** Name of the secret. */
  readonly secret: string;
  readonly header?: string;
  readonly prefix?: string;
}

const KEYS = ["url", "secret", "header", "prefix", "idempotent", "operation"];
const MAX_URL = 2048;
const MAX_HEADER = 256;

/** Reads an endpoint from a manifest or from the home. Problems are reported to the reader. */
export function readEndpointPin(
  reader: JsonReader,
  json: JsonValue | undefined,
  field: string,
): EndpointPin | undefined {
  const object = reader.object(json, field, KEYS);
  if (object === undefined) return undefined;
  const url = reader.name(ownField(object, "url"), joinField(field, "url"), MAX_URL);
  const key = readKey(reader, object, field);
  const isIdempotent = ownField(object, "idempotent") ?? false;
  if (typeof isIdempotent !== "boolean") {
    return reader.refuse(joinField(field, "idempotent"), "format", "must be true or false");
  }
  const operation = Object.hasOwn(object, "operation")
    ? readOperationPin(reader, object["operation"], joinField(field, "operation"))
    : undefined;
  if (url === undefined) return undefined;
  return { kind: "http", url, ...(key && { key }), isIdempotent, ...(operation && { operation }) };
}

export function endpointToJson({ url, key, isIdempotent, operation }: EndpointPin): JsonObject {
  return { url, ...key, idempotent: isIdempotent, ...(operation && { operation: operationToJson(operation) }) };
}

function readKey(reader: JsonReader, object: JsonObject, field: string): EndpointPinKey | undefined {
  const [secret, header, prefix] = ["secret", "header", "prefix"].map((key) => ownField(object, key));
  const at = (key: string): string => joinField(field, key);
  if (secret === undefined) {
    const idle = header === undefined ? "prefix" : "header";
    if (header !== undefined || prefix !== undefined)
      reader.refuse(at(idle), "exclusive", "says how `secret` is sent, and none is named");
    return undefined;
  }
  if (typeof secret !== "string" || !isSecretName(secret)) {
    return reader.refuse(at("secret"), "format", "must be a secret's name, such as `weather_key`");
  }
  const name = header === undefined ? undefined : reader.name(header, at("header"), MAX_HEADER);
  // An empty prefix is allowed.
  const before = prefix === undefined || prefix === "" ? prefix : reader.name(prefix, at("prefix"), MAX_HEADER);
  return { secret, ...(name !== undefined && { header: name }), ...(before !== undefined && { prefix: before }) };
}
