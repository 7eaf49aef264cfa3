import type { JsonValue } from "@narthex/contracts";
import type { HostPattern } from "./capability.ts";
import { canonicalIpv6, isCanonicalIpv4 } from "./ip-address.ts";
import { type JsonReader, joinField, ownField } from "./json-reader.ts";
import { quoteText } from "./quote-text.ts";

const MAX_NAME_LENGTH = 253;
const MAX_PORTS = 100;
const MAX_PORT = 65_535;

const ASCII = /^[\x21-\x7e]+$/;
const LABEL = /^[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?$/;

/** A last label that resolvers read as a number, so that the whole name is an address (`0x7f.1`, `2130706433`). */
const NUMERIC_LABEL = /^(?:\d+|0x[0-9a-f]*)$/;

/** Returns the canonical spelling of a host name, address, `*.name` or `*`; undefined for anything else. */
export function canonicalHost(text: string): string | undefined {
  if (text === "*") return text;
  // SECURITY: check for ASCII before lower-casing: the Kelvin sign lower-cases to an ordinary k.
  if (!ASCII.test(text)) return undefined;
  const host = text.toLowerCase();
  if (host.includes(":")) return canonicalIpv6(host);
  const name = host.startsWith("*.") ? host.slice(2) : host;
  if (name.length > MAX_NAME_LENGTH) return undefined;
  const labels = name.split(".");
  // SECURITY: `*.0.0.1` must never be read as a pattern of addresses.
  if (NUMERIC_LABEL.test(labels.at(-1) ?? "")) return isCanonicalIpv4(host) ? host : undefined;
  return labels.every((label) => LABEL.test(label)) ? host : undefined;
}

/**
 * Whether one canonical pattern covers everything that another does.
 *
 * SPEC: `*.example.com` covers subdomains at any depth and not the apex.
 */
export function hostCovers(held: string, asked: string): boolean {
  if (held === "*" || held === asked) return true;
  if (!held.startsWith("*.") || isCanonicalIpv4(asked)) return false;
  return asked.length >= held.length && asked.endsWith(held.slice(1));
}

export function isPort(port: number): boolean {
  return Number.isInteger(port) && port >= 1 && port <= MAX_PORT;
}

/** Reads `{"host": ..., "ports": [...]}`; without ports, the pattern covers every port. */
export function readHostPattern(reader: JsonReader, json: JsonValue, field: string): HostPattern | undefined {
  const object = reader.object(json, field, ["host", "ports"]);
  if (object === undefined) return undefined;
  const host = readHost(reader, ownField(object, "host"), joinField(field, "host"));
  const given = ownField(object, "ports");
  const ports = given === undefined ? undefined : readPorts(reader, given, joinField(field, "ports"));
  if (host === undefined) return undefined;
  return ports === undefined ? { host } : { host, ports };
}

function readHost(reader: JsonReader, json: JsonValue | undefined, field: string): string | undefined {
  if (json === undefined || json === "") return reader.refuse(field, "required", "must not be empty");
  if (typeof json !== "string") return reader.refuse(field, "format", "must be text");
  const host = canonicalHost(json);
  if (host !== undefined) return host;
  return reader.refuse(
    field,
    "format",
    `must be \`*\`, a host name in ASCII, \`*.\` and a host name, or a plain address, not ${quoteText(json)}`,
  );
}

function readPorts(reader: JsonReader, json: JsonValue, field: string): number[] | undefined {
  const ports = reader.list(json, field, MAX_PORTS, (value, at) =>
    reader.wholeNumber(value, at, { min: 1, max: MAX_PORT }),
  );
  if (ports === undefined) return undefined;
  if (ports.length === 0) return reader.refuse(field, "required", "must name a port; leave it out for every port");
  return [...new Set(ports)].sort((left, right) => left - right);
}
