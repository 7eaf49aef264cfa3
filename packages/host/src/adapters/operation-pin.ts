import type { JsonObject, JsonValue } from "@narthex/contracts";
import { joinField, type JsonReader, ownField } from "@narthex/kernel";

/** One operation of an API as pinned when its tool was added: how an input becomes a request. */
export interface OperationPin {
  readonly method: OperationMethod;
  /** Path template with the parameter names in braces: `/pets/{id}`. */
  readonly path: string;
  readonly parameters: readonly OperationParameter[];
  /** Whether the `body` of the input is sent as JSON. */
  readonly hasBody: boolean;
}

/** A parameter, found in the input under its own name. */
export interface OperationParameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
}

export const OPERATION_METHODS = ["GET", "PUT", "POST", "DELETE", "PATCH"] as const;
export type OperationMethod = (typeof OPERATION_METHODS)[number];

const KEYS = ["method", "path", "parameters", "has_body"];
const MAX_PATH = 2048;
const MAX_PARAMETERS = 100;
const MAX_NAME = 256;

/** Reads an operation from a manifest or from the home. Problems are reported to the reader. */
export function readOperationPin(
  reader: JsonReader,
  json: JsonValue | undefined,
  field: string,
): OperationPin | undefined {
  const object = reader.object(json, field, KEYS);
  if (object === undefined) return undefined;
  const at = (key: string): string => joinField(field, key);
  const method = reader.choice(ownField(object, "method"), at("method"), OPERATION_METHODS);
  const path = reader.name(ownField(object, "path"), at("path"), MAX_PATH);
  const parameters = reader.list(ownField(object, "parameters"), at("parameters"), MAX_PARAMETERS, (item, itemField) =>
    readParameter(reader, item, itemField),
  );
  if (path !== undefined && !path.startsWith("/")) return reader.refuse(at("path"), "format", "must begin with `/`");
  if (method === undefined || path === undefined || parameters === undefined) return undefined;
  return { method, path, parameters, hasBody: ownField(object, "has_body") === true };
}

export function operationToJson({ method, path, parameters, hasBody }: OperationPin): JsonObject {
  return { method, path, parameters: parameters.map((parameter) => ({ ...parameter })), has_body: hasBody };
}

function readParameter(reader: JsonReader, json: JsonValue, field: string): OperationParameter | undefined {
  const object = reader.object(json, field, ["name", "in"]);
  if (object === undefined) return undefined;
  const name = reader.name(ownField(object, "name"), joinField(field, "name"), MAX_NAME);
  const place = reader.choice(ownField(object, "in"), joinField(field, "in"), ["path", "query", "header"]);
  return name === undefined || place === undefined ? undefined : { name, in: place };
}
