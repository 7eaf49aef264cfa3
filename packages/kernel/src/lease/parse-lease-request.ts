import { type JsonObject, type JsonValue, MAX_REPEATED_ITEMS } from "@narthex/contracts";
import { readBudgetLimits } from "../budget/parse-budget-limits.ts";
import type { Capability } from "../capability/capability.ts";
import { createJsonReader, type JsonReader, joinField, ownField } from "../capability/json-reader.ts";
import { readCapability } from "../capability/parse-capability.ts";
import { quoteText } from "../capability/quote-text.ts";
import { SAFETY_TIERS } from "../tool/tool.ts";
import type { LeaseRequest } from "./lease.ts";
import { isToolPattern } from "./tool-pattern.ts";

/** One year. */
const MAX_LEASE_TTL_MS = 365 * 24 * 3_600_000;

/** The latest time that `Date` can represent. */
const LATEST_TIME_MS = 8_640_000_000_000_000;

/** Large enough for a granted `*`, which is expanded to the names of all tools. */
export const MAX_TOOL_PATTERNS = 10_000;

export const RIGHTS_KEYS = ["tool_patterns", "capabilities", "highest_tier"] as const;
const REQUEST_KEYS = [...RIGHTS_KEYS, "budgets", "not_before_ms", "ttl_ms", "delegable"] as const;

/** Parses untrusted JSON into a lease request. Throws LEASE_INVALID with every problem. */
export function parseLeaseRequest(json: JsonValue): LeaseRequest {
  const reader = createJsonReader();
  return reader.finish(readLeaseRequest(reader, json), "LEASE_INVALID", "the lease");
}

/**
 * Checks a lease request from code in this process. Throws LEASE_INVALID with every problem.
 *
 * SECURITY: no field is dropped before it is checked. Untyped code may misspell an option that narrows a lease, and
 * would otherwise get the default lease.
 */
export function checkLeaseRequest(request: LeaseRequest): LeaseRequest {
  // At run time the value may not match its type.
  return parseLeaseRequest(jsonForm(request) as JsonValue);
}

type Rights = NonNullable<LeaseRequest["delegable"]>;

function readLeaseRequest(reader: JsonReader, json: JsonValue): LeaseRequest | undefined {
  const object = reader.object(json, "", REQUEST_KEYS);
  if (object === undefined) return undefined;
  const budgetsJson = ownField(object, "budgets");
  const budgets = budgetsJson === undefined ? undefined : readBudgetLimits(reader, budgetsJson, "budgets");
  const notBeforeMs = readTime(reader, object, "not_before_ms", { min: 0, max: LATEST_TIME_MS });
  const ttlMs = readTime(reader, object, "ttl_ms", { min: 1, max: MAX_LEASE_TTL_MS });
  const delegableJson = ownField(object, "delegable");
  const delegableObject =
    delegableJson === undefined ? undefined : reader.object(delegableJson, "delegable", RIGHTS_KEYS);
  return {
    ...readRights(reader, object, ""),
    ...(budgets === undefined ? {} : { budgets }),
    ...(notBeforeMs === undefined ? {} : { not_before_ms: notBeforeMs }),
    ...(ttlMs === undefined ? {} : { ttl_ms: ttlMs }),
    ...(delegableObject === undefined ? {} : { delegable: readRights(reader, delegableObject, "delegable") }),
  };
}

function readTime(
  reader: JsonReader,
  object: JsonObject,
  key: string,
  range: { readonly min: number; readonly max: number },
): number | undefined {
  const json = ownField(object, key);
  return json === undefined ? undefined : reader.wholeNumber(json, key, range);
}

/** Reads the three dimensions that are common to usable and delegable rights; omitted fields stay absent. */
export function readRights(reader: JsonReader, object: JsonObject, field: string): Rights {
  const patternsJson = ownField(object, "tool_patterns");
  const patterns =
    patternsJson === undefined
      ? undefined
      : reader.list(patternsJson, joinField(field, "tool_patterns"), MAX_TOOL_PATTERNS, (value, at) =>
          readToolPattern(reader, value, at),
        );
  const capabilitiesJson = ownField(object, "capabilities");
  const capabilities =
    capabilitiesJson === undefined
      ? undefined
      : reader.list(capabilitiesJson, joinField(field, "capabilities"), MAX_REPEATED_ITEMS, (value, at) =>
          readHeldCapability(reader, value, at),
        );
  const tierJson = ownField(object, "highest_tier");
  const tier =
    tierJson === undefined ? undefined : reader.choice(tierJson, joinField(field, "highest_tier"), SAFETY_TIERS);
  return {
    ...(patterns === undefined ? {} : { tool_patterns: patterns }),
    ...(capabilities === undefined ? {} : { capabilities }),
    ...(tier === undefined ? {} : { highest_tier: tier }),
  };
}

function readToolPattern(reader: JsonReader, json: JsonValue, field: string): string | undefined {
  if (typeof json === "string" && isToolPattern(json)) return json;
  const given = typeof json === "string" ? quoteText(json) : "something else";
  return reader.refuse(
    field,
    "format",
    `must be a tool's name, or the start of one with one \`*\` at its end, not ${given}`,
  );
}

/** Refuses a capability with an empty scope: it grants nothing, which is never intended. */
function readHeldCapability(reader: JsonReader, json: JsonValue, field: string): Capability | undefined {
  const capability = readCapability(reader, json, field);
  if (capability === undefined || !hasEmptyScope(capability)) return capability;
  return reader.refuse(field, "required", "gives nothing: name what it is for, write `*` for all, or leave it out");
}

function hasEmptyScope(capability: Capability): boolean {
  return Object.values(capability).some((part) => Array.isArray(part) && part.length === 0);
}

/**
 * Keeps the fields that are set, and converts capabilities to their JSON form; a value that is not an object is
 * returned unchanged.
 */
function jsonForm(value: unknown): unknown {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const fields = Object.entries(value).filter(([, field]) => field !== undefined);
  return Object.fromEntries(
    fields.map(([key, field]: [string, unknown]) => {
      if (key === "delegable") return [key, jsonForm(field)];
      return [key, key === "capabilities" && Array.isArray(field) ? capabilitiesToJson(field) : field];
    }),
  );
}

/** Converts capabilities from code to their JSON form, in which two fields of `wasm_exec` have other names. */
export function capabilitiesToJson(capabilities: readonly unknown[]): JsonValue[] {
  return capabilities.map((given) => {
    // At run time the value may not match its type.
    const capability = given as Partial<Capability> | null;
    if (capability?.kind !== "wasm_exec") return given as JsonValue;
    const { maxFuel, maxMemoryBytes, ...others } = capability;
    return { ...others, max_fuel: maxFuel, max_memory_bytes: maxMemoryBytes } as JsonObject;
  });
}
