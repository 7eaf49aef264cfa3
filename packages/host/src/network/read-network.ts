import { isJsonObject, type JsonObject, type JsonValue } from "@narthex/contracts";
import { canonicalHost, type HostPattern } from "@narthex/kernel";
import type { YAMLMap } from "yaml";
import { quote } from "../configuration/configuration-problems.ts";
import { readShaped, type ShapeReadingContext } from "../mcp-servers/read-shaped.ts";
import { INFERENCE_SCHEMA, NETWORK_SCHEMA, WEB_SEARCH_SCHEMA } from "./network-schema.ts";
import type { InferenceSettings, NetworkSettings, Prices, SearchSettings } from "./network-settings.ts";

type Node = YAMLMap.Parsed;

const DEFAULT_USER = "x-access-token";
const GUIDE = "docs/guides/network.md";

/** Reads `network`. Problems are reported to `reading`; do not use the result then. */
export function readNetwork(node: Node, path: string, reading: ShapeReadingContext): NetworkSettings {
  const json = asObject(readShaped(node, NETWORK_SCHEMA, path, { ...reading, guide: GUIDE }));
  const place = (text: JsonValue, ...keys: Key[]): HostPattern =>
    parseHost(text, locateSetting(node, path, keys), reading);
  return {
    hosts: listOf(json["hosts"]).map((host, index) => place(host, "hosts", index)),
    dns: listOf(json["dns"]).map((server, index) => {
      parseHost(server, locateSetting(node, path, ["dns", index]), reading);
      return asText(server);
    }),
    authorities: listOf(json["authorities"]).map(asText),
    secrets: new Map(
      Object.entries(asObject(json["secrets"])).map(([name, hosts]) => [
        name,
        listOf(hosts).map((host, index) => place(host, "secrets", name, index)),
      ]),
    ),
    credentials: listOf(json["credentials"]).map((value, index) => {
      const { host = "", secret = "", user = DEFAULT_USER } = asObject(value);
      return { hosts: [place(host, "credentials", index, "host")], secret: asText(secret), user: asText(user) };
    }),
  };
}

export function readSearch(node: Node, path: string, reading: ShapeReadingContext): readonly SearchSettings[] {
  const json = asObject(readShaped(node, WEB_SEARCH_SCHEMA, path, { ...reading, guide: GUIDE }));
  return Object.entries(json).map(([name, value]) => {
    const { kind, url = "", secret } = asObject(value);
    const given = { name, kind: kind as SearchSettings["kind"], url: asText(url), secret: asOptional(secret) };
    checkUrl(given.url, locateSetting(node, path, [name, "url"]), reading);
    return given;
  });
}

export function readInference(node: Node, path: string, reading: ShapeReadingContext): readonly InferenceSettings[] {
  const json = asObject(readShaped(node, INFERENCE_SCHEMA, path, { ...reading, guide: GUIDE }));
  return Object.entries(json).map(([name, value]) => {
    const given = asObject(value);
    const { format, url = "", secret, models, max_tokens_field: field } = given;
    checkUrl(asText(url), locateSetting(node, path, [name, "url"]), reading);
    const price = pricesOf(given, { input: 0, output: 0 });
    return {
      name,
      format: format as InferenceSettings["format"],
      url: asText(url),
      secret: asOptional(secret),
      price,
      models: new Map(
        Object.entries(asObject(models)).map(([model, prices]) => [model, pricesOf(asObject(prices), price)]),
      ),
      maxTokensField: asOptional(field) as InferenceSettings["maxTokensField"],
    };
  });
}

function pricesOf({ input_price: input, output_price: output }: JsonObject, otherwise: Prices): Prices {
  return {
    input: typeof input === "number" ? input : otherwise.input,
    output: typeof output === "number" ? output : otherwise.output,
  };
}

type Key = string | number;

/** Position of a problem in the file, and its path of keys. */
interface SettingLocation {
  readonly at: unknown;
  readonly path: string;
}

function locateSetting(node: Node, path: string, keys: readonly Key[]): SettingLocation {
  const own = keys.map((key) => (typeof key === "number" ? `[${key}]` : `.${key}`)).join("");
  return { at: node.getIn(keys, true) ?? node, path: `${path}${own}` };
}

/** Parses `host`, `*.host` or `[address]`, each with or without a port. */
function parseHost(value: JsonValue, { at, path }: SettingLocation, reading: ShapeReadingContext): HostPattern {
  const text = asText(value);
  const [, bracketed, spelled = "", port] = /^(?:\[(.*)\]|(.*?))(?::(\d+))?$/.exec(text) ?? [];
  // Only IPv6 addresses are written in brackets.
  const host = bracketed === undefined || bracketed.includes(":") ? canonicalHost(bracketed ?? spelled) : undefined;
  if (text !== "" && host === undefined) {
    reading.add(at, path, "format", () => `${quote(path, 200)} names a host that is none`);
  }
  return port === undefined ? { host: host ?? "" } : { host: host ?? "", ports: [Number(port)] };
}

function checkUrl(url: string, { at, path }: SettingLocation, reading: ShapeReadingContext): void {
  if (url !== "" && !URL.canParse(url)) reading.add(at, path, "format", () => `${quote(path, 200)} is no URL`);
}

function listOf(json: JsonValue | undefined): readonly JsonValue[] {
  return Array.isArray(json) ? json : [];
}

function asObject(json: JsonValue | undefined): JsonObject {
  return json !== undefined && isJsonObject(json) ? json : {};
}

function asText(json: JsonValue): string {
  return typeof json === "string" ? json : "";
}

function asOptional(json: JsonValue | undefined): string | undefined {
  return typeof json === "string" ? json : undefined;
}
