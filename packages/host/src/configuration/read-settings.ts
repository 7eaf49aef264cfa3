import { isAlias, isMap, isScalar, isSeq, type ParsedNode, type YAMLMap } from "yaml";
import { readServers } from "../mcp-servers/read-servers.ts";
import { SERVERS_SCHEMA } from "../mcp-servers/servers-schema.ts";
import { INFERENCE_SCHEMA, NETWORK_SCHEMA, WEB_SEARCH_SCHEMA } from "../network/network-schema.ts";
import { readInference, readNetwork, readSearch } from "../network/read-network.ts";
import type { SecretSource } from "../secrets/secret-source.ts";
import { NO_SECTIONS, type Sections, type Settings } from "./configuration.ts";
import {
  type EnumSchema,
  CONFIGURATION_SCHEMA,
  type IntegerSchema,
  isSection,
  type ListSchema,
  type SectionSchema,
  type SettingSchema,
  type TextSchema,
} from "./configuration-schema.ts";
import { type ConfigurationProblems, quote } from "./configuration-problems.ts";
import { parseListenAddress } from "./listen-address.ts";
import { joinPath, nearestKey } from "./nearest-key.ts";
import type { YamlFile } from "./parse-yaml.ts";
import { readSecretSources } from "./read-secret-sources.ts";

type Node = ParsedNode | null | undefined;

/** Checks a YAML tree against the schema and returns the valid values. */
export function readSettings(
  file: YamlFile,
  problems: ConfigurationProblems,
): { readonly settings: Settings; readonly sections: Sections } {
  const settings = new Map<string, string | number | readonly string[]>();
  const secrets = new Map<string, SecretSource>();
  let sections: Sections = { ...NO_SECTIONS, secrets };
  const { root } = file;

  function add(at: unknown, field: string, rule: string, message: () => string): void {
    problems.add(() => ({ line: file.lineOf(at), field, rule, message: message() }));
  }

  function readSection(map: YAMLMap.Parsed, schema: SectionSchema, path: string): void {
    const seen = new Set<string>();
    for (const { key, value } of map.items) {
      if (!isScalar(key) || typeof key.value !== "string") {
        add(key, path, "malformed", () => "a key must be a plain name");
        continue;
      }
      const name = key.value;
      const own = joinPath(path, name);
      if (seen.has(name)) add(key, own, "duplicate", () => `${quote(own)} is given twice; keep one`);
      seen.add(name);
      const known = Object.hasOwn(schema.properties, name) ? schema.properties[name] : undefined;
      if (known === undefined) {
        const nearest = (): string => nearestKey(name, schema, path, CONFIGURATION_SCHEMA);
        add(key, own, "unknown_field", () => `unknown key ${quote(own)}; the nearest known key is \`${nearest()}\``);
      } else {
        // A missing value has no position, so problems refer to its key.
        readSetting(value, known, own, isEmpty(value) ? key : value);
      }
    }
  }

  function readSetting(node: Node, schema: SettingSchema, path: string, at: unknown): void {
    if (isAlias(node)) {
      add(at, path, "malformed", () => `\`${path}\` is an alias; write the value itself`);
      return;
    }
    if (schema.type === "object") {
      if (isMap(node) && isShaped(schema))
        sections = { ...sections, ...readShapedSection(node, schema, path, { add }) };
      else if (isMap(node) && isSection(schema)) readSection(node, schema, path);
      else if (isMap(node)) readSecretSources(node, path, { add, secrets });
      else add(at, path, "format", () => `\`${path}\` must be a section of keys (found ${describe(node)})`);
      return;
    }
    if (schema.type === "array") {
      readList(node, schema, path, at);
      return;
    }
    const value: unknown = isScalar(node) ? node.value : undefined;
    const problem = problemOf(value, schema);
    if (problem !== undefined) {
      add(at, path, problem.rule, () => `\`${path}\` ${problem.message} (found ${describe(node)})`);
    } else if (typeof value === "string" || typeof value === "number") {
      // Turns a negative zero into zero.
      settings.set(path, typeof value === "number" ? value + 0 : value);
    }
  }

  function readList(node: Node, { items, maxItems }: ListSchema, path: string, at: unknown): void {
    if (!isSeq(node)) {
      add(at, path, "format", () => `\`${path}\` must be a list (found ${describe(node)})`);
      return;
    }
    if (node.items.length > maxItems) add(at, path, "max_items", () => `\`${path}\` has more than ${maxItems} entries`);
    const texts: string[] = [];
    for (const item of node.items) {
      const value: unknown = isScalar(item) ? item.value : undefined;
      const fits = typeof value === "string" && new RegExp(items.pattern, "u").test(value);
      // Counts code points, as JSON Schema does.
      if (fits && Array.from(value).length <= items.maxLength) texts.push(value);
      else
        add(
          item,
          path,
          "format",
          () => `\`${path}\` takes relative paths without \`.\` and \`..\` (found ${describe(item)})`,
        );
    }
    settings.set(path, texts);
  }

  if (isEmpty(root)) return { settings, sections };
  if (isMap(root)) readSection(root, CONFIGURATION_SCHEMA, "");
  else add(root, "", "format", () => `the file must be keys and values (found ${describe(root)})`);
  return { settings, sections };
}

const SHAPED: readonly SettingSchema[] = [SERVERS_SCHEMA, NETWORK_SCHEMA, WEB_SEARCH_SCHEMA, INFERENCE_SCHEMA];

function isShaped(schema: SettingSchema): boolean {
  return SHAPED.includes(schema);
}

function readShapedSection(
  node: YAMLMap.Parsed,
  schema: SettingSchema,
  path: string,
  reading: Parameters<typeof readServers>[2],
): Partial<Sections> {
  if (schema === NETWORK_SCHEMA) return { network: readNetwork(node, path, reading) };
  if (schema === WEB_SEARCH_SCHEMA) return { webSearch: readSearch(node, path, reading) };
  if (schema === INFERENCE_SCHEMA) return { inference: readInference(node, path, reading) };
  return { mcpServers: readServers(node, path, reading) };
}

interface ValueProblem {
  readonly rule: string;
  readonly message: string;
}

function problemOf(value: unknown, schema: IntegerSchema | TextSchema | EnumSchema): ValueProblem | undefined {
  if (schema.type === "integer") return integerProblem(value, schema);
  if (schema === CONFIGURATION_SCHEMA.properties["listen"]) return listenProblem(value);
  if (!("enum" in schema)) return pathProblem(value, schema.pattern);
  if (typeof value === "string" && schema.enum.includes(value)) return undefined;
  return { rule: "one_of", message: `must be one of ${schema.enum.join(", ")}` };
}

function integerProblem(value: unknown, { minimum, maximum }: IntegerSchema): ValueProblem | undefined {
  if (typeof value !== "number" || !Number.isInteger(value)) {
    return { rule: "format", message: "must be a whole number" };
  }
  if (value >= minimum && value <= maximum) return undefined;
  return { rule: "range", message: `must be from ${minimum} to ${maximum}` };
}

function listenProblem(value: unknown): ValueProblem | undefined {
  if (typeof value !== "string") return { rule: "format", message: "must be host:port" };
  const address = parseListenAddress(value);
  return "problem" in address ? { rule: "format", message: address.problem } : undefined;
}

function pathProblem(value: unknown, pattern: string): ValueProblem | undefined {
  if (typeof value === "string" && new RegExp(pattern, "u").test(value)) return undefined;
  return { rule: "format", message: "must be an absolute path without `.` and `..`, or empty" };
}

function isEmpty(node: Node): boolean {
  return node === undefined || node === null || (isScalar(node) && node.value === null && node.source === "");
}

function describe(node: Node): string {
  if (isEmpty(node)) return "nothing";
  if (isMap(node)) return "a section of keys";
  if (isSeq(node)) return "a list";
  if (!isScalar(node)) return "an alias";
  const { value } = node;
  return typeof value === "string" ? `the text ${quote(value)}` : quote(node.source ?? String(value));
}
