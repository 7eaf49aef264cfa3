import { type JsonObject, type JsonValue, MAX_ID_LEN, MAX_REPEATED_ITEMS } from "@narthex/contracts";
import type { Capability, CapabilityKind, InferenceCapability } from "./capability.ts";
import { readHostPattern } from "./host-pattern.ts";
import { createJsonReader, type JsonReader, joinField, ownField } from "./json-reader.ts";
import { readPathPrefix } from "./path-prefix.ts";

/** The keys in the JSON form of each kind, besides `kind`. */
const KEYS_OF_KIND: { readonly [K in CapabilityKind]: readonly string[] } = {
  fs_read: ["prefixes"],
  fs_write: ["prefixes"],
  net_read: ["hosts"],
  net_write: ["hosts"],
  db_read: ["names"],
  db_write: ["names"],
  exec: ["names"],
  wasm_exec: ["max_fuel", "max_memory_bytes"],
  git: ["names"],
  inference: ["models"],
  artifact: ["names"],
  vault: ["prefixes"],
  clock: [],
  env_read: ["names"],
  mcp: ["names"],
};

const CAPABILITY_KINDS = Object.keys(KEYS_OF_KIND) as readonly CapabilityKind[];

const EVERY_KEY = ["kind", ...new Set(Object.values(KEYS_OF_KIND).flat())];

/**
 * Parses a capability from untrusted JSON to normal form: scopes sorted and without duplicates, paths and hosts in
 * their canonical spelling. Throws LEASE_INVALID with every violation; `field` is the position of the capability in the
 * document.
 */
export function parseCapability(json: JsonValue, field: string): Capability {
  const reader = createJsonReader();
  return reader.finish(readCapability(reader, json, field), "LEASE_INVALID", "the capability");
}

/** Reads a capability that is part of a larger document. */
export function readCapability(reader: JsonReader, json: JsonValue, field: string): Capability | undefined {
  const kindOnly = reader.object(json, field, EVERY_KEY);
  if (kindOnly === undefined) return undefined;
  const kind = reader.choice(ownField(kindOnly, "kind"), joinField(field, "kind"), CAPABILITY_KINDS);
  if (kind === undefined) return undefined;
  const misplaced = Object.keys(kindOnly).filter(
    (key) => EVERY_KEY.includes(key) && key !== "kind" && !KEYS_OF_KIND[kind].includes(key),
  );
  for (const key of misplaced) reader.refuse(joinField(field, key), "unknown_field", `does not belong to ${kind}`);
  return readScope(reader, kindOnly, kind, field);
}

function readScope(
  reader: JsonReader,
  object: JsonObject,
  kind: CapabilityKind,
  field: string,
): Capability | undefined {
  switch (kind) {
    case "fs_read":
    case "fs_write":
    case "vault": {
      const prefixes = readSet(reader, object, field, "prefixes", (json, at) => readPathPrefix(reader, json, at));
      return prefixes && { kind, prefixes };
    }
    case "net_read":
    case "net_write": {
      const hosts = readSet(reader, object, field, "hosts", (json, at) => readHostPattern(reader, json, at));
      return hosts && { kind, hosts };
    }
    case "inference": {
      const models = readSet(reader, object, field, "models", (json, at) => readModel(reader, json, at));
      return models && { kind, models };
    }
    case "wasm_exec": {
      const maxFuel = readAmount(reader, object, field, "max_fuel");
      const maxMemoryBytes = readAmount(reader, object, field, "max_memory_bytes");
      return maxFuel === undefined || maxMemoryBytes === undefined ? undefined : { kind, maxFuel, maxMemoryBytes };
    }
    case "clock":
      return { kind };
    default: {
      const names = readSet(reader, object, field, "names", (json, at) => readScopeName(reader, json, at));
      return names && { kind, names };
    }
  }
}

/** Reads a list, sorted and without duplicates, so that equal rights have equal JSON. */
function readSet<T>(
  reader: JsonReader,
  object: JsonObject,
  field: string,
  key: string,
  item: (json: JsonValue, field: string) => T | undefined,
): T[] | undefined {
  const values = reader.list(ownField(object, key), joinField(field, key), MAX_REPEATED_ITEMS, item);
  if (values === undefined) return undefined;
  const byText = new Map(values.map((value) => [JSON.stringify(value), value]));
  return [...byText].sort(([left], [right]) => (left < right ? -1 : 1)).map(([, value]) => value);
}

function readModel(
  reader: JsonReader,
  json: JsonValue,
  field: string,
): InferenceCapability["models"][number] | undefined {
  const object = reader.object(json, field, ["provider", "model"]);
  if (object === undefined) return undefined;
  const provider = readScopeName(reader, ownField(object, "provider"), joinField(field, "provider"));
  const model = readScopeName(reader, ownField(object, "model"), joinField(field, "model"));
  return provider === undefined || model === undefined ? undefined : { provider, model };
}

function readScopeName(reader: JsonReader, json: JsonValue | undefined, field: string): string | undefined {
  const name = reader.name(json, field, MAX_ID_LEN);
  if (name === undefined || name === "*" || !name.includes("*")) return name;
  return reader.refuse(field, "format", "must be an exact name, or `*` alone for all; patterns are not supported");
}

function readAmount(reader: JsonReader, object: JsonObject, field: string, key: string): number | undefined {
  const range = { min: 0, max: Number.MAX_SAFE_INTEGER };
  return reader.wholeNumber(ownField(object, key), joinField(field, key), range);
}
