import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import { ownField } from "@narthex/kernel";
import { OPERATION_METHODS, type OperationMethod, type OperationParameter } from "../operation-pin.ts";
import { SchemaConverter } from "./convert-schema.ts";

/** One operation of an OpenAPI description, before it is checked or selected. */
export interface DescribedOperation {
  /** The `operationId` of the description, or else derived from method and path. */
  readonly id: string;
  readonly method: OperationMethod;
  readonly path: string;
  readonly description: string;
  readonly parameters: readonly OperationParameter[];
  readonly hasBody: boolean;
  readonly inputSchema: JsonObject;
  /** Reasons why it cannot become a tool. */
  readonly problems: readonly string[];
}

const BODY = "body";
const JSON_TYPE = /^application\/(?:[\w.+-]+\+)?json\b/i;

/** Returns every operation of an OpenAPI document. */
export function readOperations(document: JsonObject): DescribedOperation[] {
  const paths = asObject(ownField(document, "paths"));
  return Object.entries(paths).flatMap(([path, item]) =>
    OPERATION_METHODS.flatMap((method) => {
      const operation = ownField(asObject(item), method.toLowerCase());
      return operation === undefined
        ? []
        : [readOperation(document, path, asObject(item), method, asObject(operation))];
    }),
  );
}

function readOperation(
  document: JsonObject,
  path: string,
  item: JsonObject,
  method: OperationMethod,
  operation: JsonObject,
): DescribedOperation {
  const converter = new SchemaConverter(asObject(ownField(componentsOf(document), "schemas")));
  const problems: string[] = [];
  const properties: Record<string, JsonValue> = {};
  const required: string[] = [];
  const parameters: OperationParameter[] = [];
  const take = (name: string, schema: JsonValue, isRequired: boolean): void => {
    if (Object.hasOwn(properties, name)) problems.push(`has two inputs called \`${name.slice(0, 80)}\``);
    properties[name] = converter.convert(schema);
    if (isRequired) required.push(name);
  };
  for (const parameter of parametersOf(document, item, operation)) {
    const { name, in: place, schema = true, description } = parameter;
    if (typeof name !== "string" || (place !== "path" && place !== "query" && place !== "header")) {
      problems.push(
        `has a parameter that cannot be sent: \`${textOf(name).slice(0, 80)}\` in ${textOf(place).slice(0, 20)}`,
      );
      continue;
    }
    parameters.push({ name, in: place });
    take(name, withDescription(schema, description), place === "path" || parameter["required"] === true);
  }
  const body = bodyOf(document, operation);
  if (body !== undefined) {
    if (body.schema === undefined) problems.push("takes a body that is not JSON");
    take(BODY, body.schema ?? true, body.isRequired);
  }
  const definitions = converter.definitions;
  return {
    id: textOf(operation["operationId"]) || `${method} ${path}`,
    method,
    path,
    description: descriptionOf(operation) || `${method} ${path}`,
    parameters,
    hasBody: body !== undefined,
    inputSchema: {
      type: "object",
      properties,
      ...(required.length > 0 && { required }),
      additionalProperties: false,
      ...(Object.keys(definitions).length > 0 && { $defs: definitions }),
    },
    problems: [...problems, ...converter.problems],
  };
}

/** Parameters of the operation override those of its path. */
function parametersOf(document: JsonObject, item: JsonObject, operation: JsonObject): JsonObject[] {
  const found = new Map<string, JsonObject>();
  for (const json of [...listOf(item["parameters"]), ...listOf(operation["parameters"])]) {
    const parameter = resolveReference(document, json, "parameters");
    found.set(`${textOf(parameter["in"])} ${textOf(parameter["name"])}`, parameter);
  }
  return [...found.values()];
}

function bodyOf(
  document: JsonObject,
  operation: JsonObject,
): { readonly schema: JsonValue | undefined; readonly isRequired: boolean } | undefined {
  if (operation["requestBody"] === undefined) return undefined;
  const body = resolveReference(document, operation["requestBody"], "requestBodies");
  const content = Object.entries(asObject(body["content"])).find(([type]) => JSON_TYPE.test(type));
  const schema = content === undefined ? undefined : (ownField(asObject(content[1]), "schema") ?? true);
  return { schema, isRequired: body["required"] === true };
}

/**
 * Resolves a reference to a component of the same document. A missing component becomes an empty object, which then
 * fails validation.
 */
function resolveReference(document: JsonObject, json: JsonValue, kind: string): JsonObject {
  const object = asObject(json);
  const reference = object["$ref"];
  if (typeof reference !== "string") return object;
  const prefix = `#/components/${kind}/`;
  const named = asObject(ownField(componentsOf(document), kind));
  return reference.startsWith(prefix) ? asObject(ownField(named, reference.slice(prefix.length))) : {};
}

function withDescription(schema: JsonValue, description: JsonValue | undefined): JsonValue {
  const text = textOf(description);
  return text === "" || !isJsonObject(schema) || "$ref" in schema ? schema : { description: text, ...schema };
}

function descriptionOf({ summary, description }: JsonObject): string {
  return [textOf(summary), textOf(description)].filter((text) => text !== "").join("\n\n");
}

function componentsOf(document: JsonObject): JsonObject {
  return asObject(ownField(document, "components"));
}

function asObject(json: JsonValue | undefined): JsonObject {
  return json !== undefined && isJsonObject(json) ? json : {};
}

function listOf(json: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(json) ? json : [];
}

function textOf(json: JsonValue | undefined): string {
  return typeof json === "string" ? json.trim() : "";
}
