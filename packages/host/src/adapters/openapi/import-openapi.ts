import { isJsonObject, type JsonObject, type JsonValue, KernelError } from "@narthex/contracts";
import { createJsonReader, type JsonReader, ownField } from "@narthex/kernel";
import type { CandidateTool } from "../added-tool.ts";
import { operationToJson } from "../operation-pin.ts";
import { parseManifest } from "../parse-manifest.ts";
import type { DECLARATION_KEYS } from "../read-declaration.ts";
import { type DescribedOperation, readOperations } from "./read-operations.ts";

/** Settings of a manifest that names an OpenAPI description. */
export interface ImportSettings {
  /** Overrides the URL in the description. */
  readonly url?: string;
  /** Ids of the operations to import; all by default. */
  readonly operations?: readonly string[];
  /** Prefix of every tool name. */
  readonly namePrefix?: string;
  /** How the API key is sent: `secret`, `header`, `prefix`. */
  readonly key: JsonObject;
}

const VERSION = /^3\.[01]\.\d+/;
const MANIFEST_KEYS = ["openapi", "url", "operations", "name_prefix", "secret", "header", "prefix"];
const MAX_OPERATIONS = 100;
const RELEASE = /^(?:0|[1-9]\d{0,8})\.(?:0|[1-9]\d{0,8})\.(?:0|[1-9]\d{0,8})$/;
const MAX_NAME = 64;
const MAX_DESCRIPTION = 8192;

/** Whether this JSON value is an OpenAPI description. */
export function isOpenApi(json: JsonValue): json is JsonObject {
  return isJsonObject(json) && typeof json["openapi"] === "string" && VERSION.test(json["openapi"]);
}

/**
 * Reads a manifest that names an OpenAPI description: the path of that file and the settings. Returns undefined for any
 * other manifest.
 */
export function readImport(json: JsonValue, file: string): { file: string; settings: ImportSettings } | undefined {
  if (!isJsonObject(json) || typeof json["openapi"] !== "string" || !json["openapi"].startsWith("./")) return undefined;
  const reader = createJsonReader();
  const object = reader.object(json, "", MANIFEST_KEYS) ?? {};
  const path = json["openapi"].slice(2);
  if (path.split("/").some((part) => part === "" || part === "." || part === "..")) {
    reader.refuse("openapi", "no_traversal", "must be a file beside the manifest, such as `./api.json`");
  }
  const operations = Object.hasOwn(object, "operations")
    ? reader.list(object["operations"], "operations", MAX_OPERATIONS, (item, field) => reader.name(item, field, 1024))
    : undefined;
  const settings: ImportSettings = {
    ...optionalText(reader, object, "url", "url"),
    ...optionalText(reader, object, "name_prefix", "namePrefix"),
    ...(operations !== undefined && { operations }),
    key: Object.fromEntries(
      ["secret", "header", "prefix"].flatMap((key) => (Object.hasOwn(object, key) ? [[key, object[key] ?? null]] : [])),
    ),
  };
  return reader.finish({ file: path, settings }, "INVALID_DECLARATION", `the manifest \`${file}\``);
}

/**
 * Converts the operations of an API to tools. Like tools of an MCP server they count as side_effecting, external and
 * net_write, whatever their description claims. Throws INVALID_DECLARATION with every problem.
 */
export function importOpenApi(
  document: JsonObject,
  file: string,
  settings: ImportSettings = { key: {} },
): CandidateTool[] {
  const wanted = settings.operations && new Set(settings.operations);
  const found = readOperations(document).filter(({ id }) => wanted?.has(id) ?? true);
  const problems = findProblems(document, found, settings);
  if (problems.length > 0) throw unfit(file, problems);
  const url = serverOf(document, settings);
  const version = versionOf(document);
  return found.map((operation): CandidateTool => {
    const source = sourceOf(operation, toToolName(operation, settings), version);
    const endpoint = {
      url,
      ...settings.key,
      // GET only: other methods may not be safe to retry.
      idempotent: operation.method === "GET",
      operation: operationToJson(operation),
    };
    const manifest = parseManifest({ ...source, endpoint }, `${file}: ${operation.id.slice(0, 80)}`);
    if (!("endpoint" in manifest)) throw new KernelError("INTERNAL", "an operation became a program");
    return { declaration: manifest.declaration, source, pin: manifest.endpoint, bytes: new Map() };
  });
}

function sourceOf({ description, inputSchema }: DescribedOperation, name: string, version: string): JsonObject {
  const source: Partial<Record<(typeof DECLARATION_KEYS)[number], JsonValue>> = {
    name,
    version,
    description: description.slice(0, MAX_DESCRIPTION).toWellFormed(),
    input_schema: inputSchema,
    determinism: "external",
    tier: "side_effecting",
  };
  return source;
}

function findProblems(document: JsonObject, found: readonly DescribedOperation[], settings: ImportSettings): string[] {
  const ids = new Set(found.map(({ id }) => id));
  const missing = (settings.operations ?? []).filter((id) => !ids.has(id));
  const names = found.map((operation) => toToolName(operation, settings));
  const twice = new Set(names.filter((name, index) => names.indexOf(name) !== index));
  return [
    ...(found.length === 0 ? ["it has no operation to add"] : []),
    ...(found.length > MAX_OPERATIONS
      ? [`it has more than ${MAX_OPERATIONS} operations; name some in \`operations\``]
      : []),
    ...missing.map((id) => `it has no operation \`${id.slice(0, 80)}\``),
    ...[...twice].map((name) => `two operations would be called \`${name}\``),
    ...found.flatMap(({ id, problems }) => problems.map((problem) => `\`${id.slice(0, 80)}\` ${problem}`)),
    ...(serverOf(document, settings) === ""
      ? ["it names no server with an absolute URL; write a manifest with `url`"]
      : []),
  ];
}

/** Derives a tool name from `listPets`, `pets/list` or `GET /pets`. */
function toToolName({ id }: DescribedOperation, { namePrefix = "" }: ImportSettings): string {
  const words = id
    .replaceAll(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll(/[^A-Za-z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "")
    .toLowerCase();
  return `${namePrefix}${words}`.slice(0, MAX_NAME);
}

function serverOf(document: JsonObject, { url }: ImportSettings): string {
  if (url !== undefined) return url;
  const servers = document["servers"];
  const [first] = Array.isArray(servers) ? servers : [];
  const found = first !== undefined && isJsonObject(first) ? ownField(first, "url") : undefined;
  return typeof found === "string" && /^https?:\/\//.test(found) ? found : "";
}

function versionOf({ info }: JsonObject): string {
  const version = info !== undefined && isJsonObject(info) ? ownField(info, "version") : undefined;
  return typeof version === "string" && RELEASE.test(version) ? version : "1.0.0";
}

function optionalText<K extends string>(
  reader: JsonReader,
  object: JsonObject,
  key: string,
  name: K,
): { [P in K]?: string } {
  if (!Object.hasOwn(object, key)) return {};
  const text = reader.name(object[key], key, 2048);
  return text === undefined ? {} : ({ [name]: text } as { [P in K]?: string });
}

function unfit(file: string, problems: readonly string[]): KernelError {
  const violations = problems.map((message) => ({ field: file, rule: "format", message }));
  return new KernelError("INVALID_DECLARATION", `the description \`${file}\` cannot be added: ${problems[0]}`, {
    violations,
  });
}
